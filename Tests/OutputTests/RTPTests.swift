import Bitstream
import TestSupport
import Testing
import Time

@testable import Output

/// A stream as RTP packets, taken apart again as the standards say.
@Suite struct RTPTests {
    /// NAL units of these lengths; the last two are a slice of two bytes and one that is longer than any packet.
    private static let lengths = [2, 4, 1399, 1400, 1401, 1402, 2797, 2798, 2799, 2800, 100_000]

    private func unit(_ codec: Codec, _ lengths: [Int], isIDR: Bool = true, at time: Instant = .start)
        -> AccessUnit
    {
        var builder = AccessUnitPool(codec: codec, limit: 1).makeBuilder()
        for (index, length) in lengths.enumerated() {
            // The headers of an IDR slice, with all bits of the other fields that may be set.
            let header: [UInt8] = codec == .h264 ? [0x65, 0x88] : [0x27, 0x0B]
            let bytes = header + (2..<max(2, length)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ index) | 1 }
            builder.append(bytes.span.bytes)
        }
        return builder.finish(isIDR: isIDR, frameNumber: 0, sequence: 0, timestamp: time)
    }

    @Test("every NAL unit arrives as it was, whatever its length", arguments: [Codec.h264, .hevc])
    func lengths(codec: Codec) throws {
        for length in Self.lengths {
            let unit = unit(codec, [length, 20, length])
            var packetizer = RTPPacketizer(codec: codec, source: 0x1234_5678, sequence: 65_534)
            var bytes: [UInt8] = []
            packetizer.append(unit, timestamp: 0xFFFF_FFFE, to: &bytes)
            let packets = try RTPPacket.all(in: bytes)
            #expect(packets.allSatisfy { $0.payload.count <= 1400 && $0.channel == 0 })
            #expect(
                packets.map(\.sequence) == packets.indices.map { UInt16(truncatingIfNeeded: 65_534 + $0) })
            #expect(packets.map(\.hasMarker) == packets.indices.map { $0 == packets.count - 1 })
            #expect(
                packets.allSatisfy {
                    $0.timestamp == 0xFFFF_FFFE && $0.source == 0x1234_5678 && $0.type == 96
                })
            let units = unit.units.map { Array(unit.allBytes[$0.bytes]) }
            #expect(RTPPacket.nalUnits(of: packets, codec) == units, "\(length) bytes")
            #expect(packetizer.packetCount == UInt32(packets.count))
            #expect(packetizer.byteCount == UInt32(packets.reduce(0) { $0 + $1.payload.count }))
        }
    }

    @Test("a report precedes each IDR and says when the picture was captured, even after the clock was set")
    func reports() throws {
        let clock = ScriptedTime(now: .start + .seconds(100), wallTime: WallTime(seconds: 1_700_000_000))
        var random = SeededGenerator(seed: 18)
        let framing = RTPFraming(codec: .h264, clock: clock, using: &random)
        func frame(_ isIDR: Bool, delay: Duration) throws -> [RTPPacket] {
            var bytes: [UInt8] = []
            framing.frame(unit(.h264, [100], isIDR: isIDR, at: clock.now - delay), into: &bytes)
            return try RTPPacket.all(in: bytes)
        }
        let first = try frame(true, delay: .milliseconds(30))
        #expect(first.map(\.channel) == [1, 0])
        let report = try #require(first[0].report)
        #expect(abs(report.seconds - (1_700_000_000 - 0.03)) < 1e-6)
        #expect(report.timestamp == first[1].timestamp && report.source == first[1].source)
        #expect(report.packets == 0 && report.bytes == 0)

        clock.pass(.seconds(1))
        let second = try frame(false, delay: .milliseconds(10))
        #expect(second.map(\.channel) == [0], "no report with each picture")
        // 1 s later, captured 20 ms sooner than the first.
        #expect(second[0].timestamp &- first[1].timestamp == 90_000 + 1800)

        clock.wallTime += .seconds(3600)
        clock.pass(.seconds(1))
        let third = try frame(true, delay: .milliseconds(30))
        let later = try #require(third[0].report)
        #expect(abs(later.seconds - (1_700_003_602 - 0.03)) < 1e-6)
        #expect(later.timestamp == third[1].timestamp && later.packets == 2 && later.bytes == 200)

        clock.pass(.seconds(5))
        #expect(
            try frame(false, delay: .zero).map(\.channel) == [1, 0], "the server keeps the session that long")
    }

    @Test("a picture that comes before the time of its capture has that time all the same")
    func early() throws {
        let clock = ScriptedTime(now: .start + .seconds(500), wallTime: WallTime(seconds: 1_700_000_000))
        var random = SeededGenerator(seed: 18)
        let framing = RTPFraming(codec: .h264, clock: clock, using: &random)
        var bytes: [UInt8] = []
        framing.frame(unit(.h264, [100], at: clock.now + .seconds(2)), into: &bytes)
        #expect(try RTPPacket.all(in: bytes)[0].report?.seconds == 1_700_000_002)
    }

    @Test("a source with its own clock keeps its intervals, and has the wall-clock time of now")
    func ownClock() throws {
        let clock = ScriptedTime(now: .start + .seconds(500), wallTime: WallTime(seconds: 1_700_000_000))
        var random = SeededGenerator(seed: 18)
        let framing = RTPFraming(codec: .h264, clock: clock, using: &random)
        var bytes: [UInt8] = []
        framing.frame(unit(.h264, [100], at: .start), into: &bytes)
        framing.frame(unit(.h264, [100], at: .start + .milliseconds(40)), into: &bytes)
        let packets = try RTPPacket.all(in: bytes)
        #expect(packets[3].timestamp &- packets[1].timestamp == 3600)
        #expect(packets[0].report?.seconds == 1_700_000_000)
    }

    @Test("a day at 30 frames a second is exact to a tick")
    func longTime() throws {
        let clock = ScriptedTime(now: .start)
        var random = SeededGenerator(seed: 18)
        let framing = RTPFraming(codec: .h264, clock: clock, using: &random)
        var bytes: [UInt8] = []
        framing.frame(unit(.h264, [10]), into: &bytes)
        framing.frame(unit(.h264, [10], at: .start + .nanoseconds(86_400_033_333_333)), into: &bytes)
        let packets = try RTPPacket.all(in: bytes)
        #expect(packets[3].timestamp &- packets[1].timestamp == UInt32(truncatingIfNeeded: 7_776_002_999))
    }

    @Test(
        "describes a stream by its parameter sets, and only with all of them", arguments: [Codec.h264, .hevc])
    func description(codec: Codec) throws {
        let stream = try CodedStream(codec, frames: 2)
        let text = try #require(SessionDescription(keyframe: stream.units[0])?.text)
        let lines = text.split(separator: "\r\n").map(String.init)
        #expect(lines.first == "v=0" && lines.last == "a=control:streamid=0")
        #expect(lines.contains("m=video 0 RTP/AVP 96"))
        #expect(lines.contains("a=rtpmap:96 \(codec == .h264 ? "H264" : "H265")/90000"))
        let names =
            codec == .h264
            ? ["sprop-parameter-sets", "profile-level-id"] : ["sprop-vps", "sprop-sps", "sprop-pps"]
        for name in names { #expect(text.contains("\(name)="), "\(name)") }
        #expect(text.contains("packetization-mode=1") == (codec == .h264))
        #expect(SessionDescription(keyframe: stream.units[1]) == nil)
    }

    @Test("the storage of framed units is used again once nobody refers to it")
    func pool() throws {
        final class Plain: LiveFraming {
            let prologue: [UInt8] = []
            func frame(_ unit: AccessUnit, into bytes: inout [UInt8]) { bytes += unit.allBytes }
            func beginStream() {}
        }
        var pool = FramedUnitPool()
        var first: FramedUnit? = try pool.make(unit(.h264, [10]), with: Plain())
        let identity = first.map(ObjectIdentifier.init)
        let second = try pool.make(unit(.h264, [20]), with: Plain())
        #expect(ObjectIdentifier(second) != identity)
        #expect(first?.bytes.count == 14 && second.bytes.count == 24)
        first = nil
        #expect(ObjectIdentifier(try pool.make(unit(.h264, [30]), with: Plain())) == identity)
    }
}
