import Bitstream
import TestSupport
import CamSound
import Testing
import CamPlatform
@testable import CamDelivery

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
            #expect(packetizer.stream.packetCount == UInt32(packets.count))
            #expect(packetizer.stream.byteCount == UInt32(packets.reduce(0) { $0 + $1.payload.count }))
        }
    }

    private static func sound(_ codec: SoundCodec, configuration: [UInt8] = [0x11, 0x88]) -> SoundDescription
    {
        SoundDescription(
            codec: codec, format: SoundFormat(rate: 48_000, channels: 1), configuration: configuration,
            packetFrames: 1024)
    }

    @Test(
        "AAC in one packet or several, each with the access unit's size",
        arguments: [1, 1396, 1397, 4000, 8191])
    func aac(length: Int) throws {
        let content = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let packet = try #require(SoundPacket(content, timestamp: .start, duration: .milliseconds(21)))
        var packetizer = SoundPacketizer(codec: .aac, source: 7, sequence: 65_535)
        var bytes: [UInt8] = []
        packetizer.append(packet, timestamp: 48_000, to: &bytes)
        let packets = try RTPPacket.all(in: bytes)
        #expect(packets.count == (length + 1395) / 1396)
        #expect(packets.map(\.hasMarker) == packets.indices.map { $0 == packets.count - 1 })
        for packet in packets {
            #expect(packet.channel == 2 && packet.type == 97 && packet.payload.count <= 1400)
            #expect(
                Array(packet.payload.prefix(4)) == [0, 16, UInt8(length >> 5), UInt8(length << 3 & 0xff)])
        }
        #expect(packets.flatMap { $0.payload.dropFirst(4) } == content)
    }

    @Test("sound has its own clock and reports, by which receivers play it with the pictures")
    func soundReports() throws {
        let clock = ScriptedTime(now: .start + .seconds(100), wallTime: WallTime(seconds: 1_700_000_000))
        var random = SeededGenerator(seed: 18)
        let framing = RTPFraming(codec: .h264, sound: Self.sound(.opus), clock: clock, using: &random)
        func hear(at time: Instant) throws -> [RTPPacket] {
            var bytes: [UInt8] = []
            let packet = SoundPacket([1, 2, 3], timestamp: time, duration: .milliseconds(20))
            framing.frame(try #require(packet), into: &bytes)
            return try RTPPacket.all(in: bytes)
        }
        #expect(try hear(at: clock.now - .milliseconds(50)).isEmpty, "nothing before the first picture")
        var bytes: [UInt8] = []
        framing.frame(unit(.h264, [100], at: clock.now - .milliseconds(30)), into: &bytes)
        #expect(try hear(at: clock.now - .milliseconds(31)).isEmpty)
        let first = try hear(at: clock.now - .milliseconds(20))
        #expect(first.map(\.channel) == [3, 2])
        let report = try #require(first[0].report)
        #expect(abs(report.seconds - (1_700_000_000 - 0.02)) < 1e-6)
        #expect(report.timestamp == first[1].timestamp && report.source == first[1].source)
        let picture = try RTPPacket.all(in: bytes)[1]
        #expect(first[1].payload == [1, 2, 3] && first[1].source != picture.source)
        let second = try hear(at: clock.now)
        #expect(second.map(\.channel) == [2] && second[0].timestamp &- first[1].timestamp == 960)
    }

    @Test("a description names the sound, its clock and what its decoder needs")
    func soundDescription() throws {
        let keyframe = try CodedStream(.h264, frames: 2).units[0]
        let aac = try #require(SessionDescription(keyframe: keyframe, sound: Self.sound(.aac)))
        #expect(aac.controls == ["streamid=0", "streamid=1"])
        #expect(aac.text.contains("m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/48000/1\r\n"))
        #expect(aac.text.contains("config=1188\r\na=control:streamid=1\r\n"))
        let opus = try #require(SessionDescription(keyframe: keyframe, sound: Self.sound(.opus)))
        #expect(opus.text.contains("a=rtpmap:97 opus/48000/2\r\na=fmtp:97 sprop-stereo=0\r\n"))
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
        #expect(packets[3].timestamp &- packets[1].timestamp == UInt32(truncatingIfNeeded: 7_776_003_000))
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
            let takesSound = false

            func frame(_ sound: SoundPacket, into bytes: inout [UInt8]) {}

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
