import CamPlatform
import Testing

@testable import Bitstream

/// Capture times in pictures, by MISB ST 0604. The expected bytes are the standard's, written by hand.
@Suite struct CaptureTimeTests {
    /// 2026-11-29T05:14:12.586646Z.
    private static let time = WallTime(nanoseconds: 1_795_929_252_586_646_999)
    private static let body = hex("9f 0006 ff 6163 ff 5d24 ff 6496 80")

    private static let h264 = hex("06 05 1c") + Array("MISPmicrosectime".utf8) + body
    private static let hevcIdentifier = hex("a8687dd4d7593758a5cef0338b6545f1")

    private static let idr = [Sample.sps, Sample.pps, Sample.idr]

    private func shape(
        _ packet: [UInt8], at time: WallTime?, codec: Codec = .h264
    ) throws -> AccessUnit {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: codec))
        let unit = try shaper.shape(
            packet.span.bytes, frameNumber: 0, sequence: 0, timestamp: .start, captureTime: time)
        return try #require(unit)
    }

    @Test("the message stands between the encoder's messages and the slices, and the rest is unchanged")
    func place() throws {
        let packet = annexB([Sample.sps, Sample.pps, Sample.sei, Sample.idr])
        let unit = try shape(packet, at: Self.time)
        #expect(unit.copy == annexB([Sample.sps, Sample.pps, Sample.sei, Self.h264, Sample.idr]))
        var checker = StreamShapeChecker(codec: .h264)
        try checker.check(unit, expectsIDR: true)
        #expect(try shape(packet, at: nil).copy == packet)
    }

    @Test("a picture that states its time gives it back, to the microsecond")
    func roundTrip() throws {
        for nanoseconds in [0, 1_000, 1_795_929_252_586_646_000, Int64.max / 1000 * 1000] {
            let time = WallTime(nanoseconds: nanoseconds)
            #expect(try shape(annexB(Self.idr), at: time).captureTime == time)
        }
        #expect(try shape(annexB(Self.idr), at: nil).captureTime == nil)
    }

    @Test("of two messages the one nearer to the slices counts: a camera may have written the other")
    func twoMessages() throws {
        let earlier = try shape(annexB(Self.idr), at: WallTime(seconds: 1)).copy
        #expect(
            try shape(earlier, at: Self.time).captureTime == WallTime(nanoseconds: 1_795_929_252_586_646_000))
    }

    @Test("messages of H.265 are read, in microseconds and nanoseconds")
    func hevc() {
        let nanoseconds = hex("cf848278ee23306c9265e8fef22fb8b8")
        for (identifier, expected) in [
            (Self.hevcIdentifier, 1_795_929_252_586_646_000), (nanoseconds, 1_795_929_252_586_646),
        ] as [([UInt8], Int64)] {
            let userData = identifier + Self.body.dropLast()
            #expect(
                CaptureTimeMessage.time(userData: userData.span.bytes) == WallTime(nanoseconds: expected))
        }
        var message = CaptureTimeMessage(codec: .hevc)
        message.set(
            Self.time, for: .hevc(H265.NALUnitHeader(nal_unit_type: .trailR, nuh_temporal_id_plus1: 3)))
        #expect(message.nalUnit == hex("4e03 05 1c") + Self.hevcIdentifier + Self.body)
    }

    @Test("other user data, a cut or damaged message, and a time beyond all clocks are no capture times")
    func others() {
        let whole = Array("MISPmicrosectime".utf8) + Self.body.dropLast()
        func time(_ data: [UInt8]) -> WallTime? { CaptureTimeMessage.time(userData: data.span.bytes) }
        #expect(time(whole) != nil)
        for length in 0..<whole.count { #expect(time(Array(whole[..<length])) == nil) }
        for index in whole.indices where index < 16 || whole[index] == 0xFF {
            var damaged = whole
            damaged[index] ^= 1
            #expect(time(damaged) == nil, "\(index)")
        }
        #expect(time(Array(whole[..<17]) + hex("7fff ff ffff ff ffff ff ffff")) == nil)
        let nanoseconds = hex("cf848278ee23306c9265e8fef22fb8b8 9f")
        #expect(time(nanoseconds + hex("8000 ff 0000 ff 0000 ff 0000")) == nil)
        #expect(time(nanoseconds + hex("7fff ff ffff ff ffff ff ffff"))?.iso8601.hasPrefix("2262-") == true)
    }

    @Test("the inspector counts pictures with a time, and measures the stream by them")
    func inspection() throws {
        var inspector = StreamInspector(codec: .h264)
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        var offset = 0
        for (index, milliseconds) in [0, 40, 140, 180].enumerated() {
            let packet = annexB(index == 0 ? Self.idr : [Sample.p])
            let unit = try #require(
                try shaper.shape(
                    packet.span.bytes, frameNumber: index, sequence: 0, timestamp: .start,
                    captureTime: WallTime(seconds: 1000) + .milliseconds(milliseconds)))
            for part in unit.units {
                let bytes = Array(unit.copy[part.bytes])
                _ = inspector.inspect(bytes.span.bytes, at: NALUnitPlace(offset: offset, prefixLength: 4))
                offset += 4 + bytes.count
            }
        }
        inspector.finish(byteCount: offset)
        let times = try #require(inspector.summary.captureTimes)
        #expect(times.count == 4)
        #expect(times.first == WallTime(seconds: 1000))
        #expect(times.last == WallTime(seconds: 1000) + .milliseconds(180))
        #expect(inspector.summary.timing?.duration == .milliseconds(220))
    }
}
