import TestSupport
import Testing
import CamPlatform

@testable import CamPictures

/// Which frames of a camera a time lapse records.
@Suite struct FramePickerTests {
    /// The numbers of the frames that are picked.
    private func picked(
        every interval: Duration, from times: [Duration], frameDuration: Duration = .milliseconds(33)
    ) -> [Int] {
        var picker = FramePicker(every: interval)
        return times.indices.filter {
            picker.picks(frameAt: .start + times[$0], frameDuration: frameDuration)
        }
    }

    @Test("one frame each interval, the first one first")
    func regular() {
        let times = (0..<100).map { Duration.milliseconds(100) * $0 }
        let picks = picked(every: .seconds(2), from: times, frameDuration: .milliseconds(100))
        #expect(picks == [0, 20, 40, 60, 80])
    }

    @Test("the grid does not drift with a camera whose rate does not divide the interval")
    func drift() {
        // An hour at 29.97 frames a second, one frame each 10 s.
        let times = (0..<107_892).map { Duration.nanoseconds(33_366_667) * $0 }
        let picks = picked(every: .seconds(10), from: times)
        #expect(picks.count == 360)
        for (number, pick) in picks.enumerated() {
            #expect((times[pick] - .seconds(10) * number).magnitude <= .milliseconds(17))
        }
    }

    @Test("frames that come a little early or late are each picked once, at the camera's own rate, too")
    func jitter() {
        var generator = SeededGenerator(seed: 3)
        let times = (0..<200).map {
            Duration.seconds($0) + .milliseconds(Int.random(in: -200...200, using: &generator))
        }
        let picks = picked(every: .seconds(1), from: times, frameDuration: .seconds(1))
        #expect(picks.count == 200)
    }

    @Test("a frame that the camera lost moves no other")
    func lost() {
        let times = (0..<100).filter { !(18...23).contains($0) }.map { Duration.milliseconds(100) * $0 }
        let picks = picked(every: .seconds(2), from: times, frameDuration: .milliseconds(100))
        #expect(picks.map { times[$0] } == [0, 2400, 4000, 6000, 8000].map { .milliseconds($0) })
    }

    @Test("after an outage, recording continues with one frame, on the same grid")
    func outage() {
        let times = [0, 2, 100.5, 101, 102, 103].map { Duration.seconds($0) }
        #expect(picked(every: .seconds(2), from: times) == [0, 1, 2, 4])
    }

    @Test("an interval shorter than the camera's picks every frame")
    func short() {
        let times = (0..<10).map { Duration.milliseconds(100) * $0 }
        #expect(picked(every: .milliseconds(1), from: times, frameDuration: .milliseconds(100)).count == 10)
    }

    @Test("a clock that was set back starts the grid again")
    func setBack() {
        let times = [1000, 1002, 10, 11, 12].map { Duration.seconds($0) }
        #expect(picked(every: .seconds(2), from: times) == [0, 1, 2, 4])
    }
}
