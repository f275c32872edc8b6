import Bitstream
import Testing
import CamPlatform

@testable import CamInspection

/// Durations and rates by a container's times.
@Suite struct PictureTimingTests {
    private func inspection(
        _ times: [Duration], isKeyframe: (Int) -> Bool = { $0 == 0 }, byteCount: Int = 1000
    ) -> Inspection {
        var container = Inspection.Container(.matroska)
        for (index, time) in times.enumerated() {
            container.note(
                time: time, isHidden: false, isKeyframe: isKeyframe(index), byteCount: byteCount)
        }
        let summary = StreamInspector(codec: .h264).summary
        return Inspection(name: "a.mkv", container: container, summary: summary, pictures: [])
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

    @Test("recordings that follow each other in one file add up")
    func joined() throws {
        let times = (0..<50).map { Duration.milliseconds(40 * $0) }
        let inspection = inspection(times + times, isKeyframe: { $0.isMultiple(of: 50) })
        #expect(inspection.duration == 4)
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
