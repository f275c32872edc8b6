import Bitstream
import TestSupport
import Testing
import CamPlatform

@testable import CamInspection

/// Durations and rates by a container's times.
@Suite struct PictureTimingTests {
    private func inspection(
        _ times: [Duration], isKeyframe: (Int) -> Bool = { $0 == 0 }, byteCount: Int = 1000,
        hiddenCount: Int = 0, summary: StreamSummary = StreamInspector(codec: .h264).summary
    ) -> Inspection {
        var container = Inspection.Container(.matroska)
        for (index, time) in times.enumerated() {
            container.note(
                time: time, isHidden: index < hiddenCount, isKeyframe: isKeyframe(index), byteCount: byteCount
            )
        }
        return Inspection(name: "a.mkv", container: container, summary: summary, pictures: [])
    }

    /// An H.264 stream of frames, some of which are two fields.
    private func summary(frameCount: Int, inFields: (Int) -> Bool) -> StreamSummary {
        var inspector = StreamInspector(codec: .h264)
        var offset = 0
        func add(_ header: UInt8, _ write: (inout BitWriter) -> Void) {
            var bits = BitWriter()
            write(&bits)
            let unit = [header] + bits.rbsp
            _ = inspector.inspect(unit.span.bytes, at: NALUnitPlace(offset: offset, prefixLength: 4))
            offset += 4 + unit.count
        }
        add(0x67) { bits in
            bits.u(24, 0x4d_00_1e)
            // 4 bits of frame_num, 6 of the order count, one reference, and 16x32 luma samples in fields
            for value in [0, 0, 0, 2, 1] { bits.ue(value) }
            bits.u(1, 0)
            for value in [0, 0] { bits.ue(value) }
            bits.u(6, 0b001000)
        }
        add(0x68) { bits in
            for value in [0, 0] { bits.ue(value) }
            bits.u(2, 0)
            for value in [0, 0, 0] { bits.ue(value) }
            bits.u(3, 0)
            for value in [0, 0, 0] { bits.se(value) }
            bits.u(3, 0)
        }
        for frame in 0..<frameCount {
            for field in 0..<(inFields(frame) ? 2 : 1) {
                let isIDR = frame == 0 && field == 0
                add(isIDR ? 0x65 : 0x41) { bits in
                    for value in [0, isIDR ? 7 : 5, 0] { bits.ue(value) }
                    bits.u(4, frame % 16)
                    bits.flag(inFields(frame))
                    if inFields(frame) { bits.u(1, field) }
                    if isIDR { bits.ue(0) }
                    bits.u(6, (2 * frame + field) % 64)
                    bits.u(16, 0xa5a5)
                }
            }
        }
        inspector.finish(byteCount: offset)
        return inspector.summary
    }

    @Test("says a gap at an otherwise constant rate, and that it is none where a picture or two are missing")
    func gaps() {
        func times(without missing: Range<Int>) -> [Duration] {
            (0..<125).filter { !missing.contains($0) }.map { .milliseconds(40 * $0) }
        }
        #expect(inspection(times(without: 50..<81)).longestGap == 1.28)
        #expect(inspection(times(without: 50..<52)).longestGap == nil)
        #expect(inspection(times(without: 0..<0)).longestGap == nil)
        #expect(inspection(times(without: 50..<81)).rateVariation == nil)
    }

    @Test(
        "a rate is that of frames, whether the container stores their fields together or each by itself",
        arguments: [1, 2, 3], [true, false])
    func fields(every: Int, areTogether: Bool) throws {
        let isInFields = { (frame: Int) in frame % every == 0 }
        let summary = summary(frameCount: 60, inFields: isInFields)
        #expect(summary.frameCount == 60)
        #expect(summary.accessUnitCount == 60 + 60 / every)
        let times = (0..<60).flatMap { frame -> [Duration] in
            let time = Duration.milliseconds(40 * frame)
            return areTogether || !isInFields(frame) ? [time] : [time, time + .milliseconds(20)]
        }
        let inspection = inspection(times, summary: summary)
        #expect(abs(try #require(inspection.framesPerSecond) - 25) < 0.3)
        #expect(abs(try #require(inspection.duration) - 2.4) < 0.03)
    }

    @Test("the average leaves out pictures that an edit list hides, as the duration does")
    func hidden() throws {
        let summary = summary(frameCount: 60, inFields: { _ in false })
        let byteCount = summary.pictureByteCount / 60
        let all = inspection((0..<60).map { .milliseconds(40 * $0) }, byteCount: byteCount, summary: summary)
        let half = inspection(
            (0..<60).map { .milliseconds(40 * ($0 - 30)) }, byteCount: byteCount, hiddenCount: 30,
            summary: summary)
        let average = try #require(all.averageBitRate)
        #expect(half.duration == 1.2)
        #expect(abs(try #require(half.averageBitRate) - average) < average / 10)
    }

    private func rate(_ inspection: Inspection) -> String? {
        inspection.facts.first { $0.label == "rate" }?.value
    }

    @Test("a rate that varies is said, and the duration is that of the container")
    func varying() throws {
        let fast = (0..<60).map { Duration.milliseconds($0 * 1000 / 30) }
        let slow = (0..<40).map { Duration.seconds(2) + .milliseconds(200 * $0) }
        let inspection = inspection(fast + slow)
        #expect(abs(try #require(inspection.duration) - 9.834) < 0.002)
        #expect(abs(try #require(inspection.framesPerSecond) - 10.17) < 0.01)
        let variation = try #require(inspection.rateVariation)
        #expect(variation.lowerBound == 5 && (30...30.4).contains(variation.upperBound))
        #expect(
            rate(inspection)
                == "10.17 frames/s on average, varying from 5 to 30.3, by the container's times; the stream states none"
        )
        // Thirty pictures in the fullest second, five in others.
        #expect((239_000...248_000).contains(try #require(inspection.peakBitRate)))
    }

    @Test("a constant rate is the container's, though times are rounded and a few pictures are missing")
    func constant() throws {
        // A camera's times, reordered by a B frame, without three pictures.
        let times = (0..<300).filter { ![100, 200, 201].contains($0) }.map {
            Duration.milliseconds($0 * 40 + ($0 * 7) % 5)
        }
        var reordered = times
        for index in stride(from: 1, to: times.count - 1, by: 2) { reordered.swapAt(index, index + 1) }
        let inspection = inspection(reordered)
        #expect(inspection.rateVariation == nil)
        #expect(abs(try #require(inspection.duration) - 12) < 0.05)
        #expect(abs(try #require(inspection.framesPerSecond) - 24.75) < 0.1)
        #expect((196_000...208_000).contains(try #require(inspection.peakBitRate)))
    }

    @Test(
        "recordings that follow each other in one file add up, also if each is a second or less",
        arguments: [50, 25, 10])
    func joined(length: Int) throws {
        let times = (0..<length).map { Duration.milliseconds(40 * $0) }
        let inspection = inspection(
            times + times + times, isKeyframe: { $0.isMultiple(of: length) })
        #expect(abs(try #require(inspection.duration) - Double(3 * length) * 0.04) < 1e-9)
        #expect(inspection.framesPerSecond == 25)
    }

    @Test("less than a second has no fullest one, and a single picture no rate")
    func short() {
        let short = inspection((0..<10).map { .milliseconds(40 * $0) })
        #expect(short.peakBitRate == nil && short.duration == 0.4)
        let single = inspection([.zero])
        #expect(single.duration == nil && single.framesPerSecond == nil)
    }
}
