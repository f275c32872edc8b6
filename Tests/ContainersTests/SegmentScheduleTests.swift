import Bitstream
import Testing
import CamPlatform
@testable import CamStorage

/// The frames at which a recording in segments begins another file.
@Suite struct SegmentScheduleTests {
    /// The numbers of the frames that the schedule cuts at.
    private func cuts(_ schedule: SegmentSchedule, _ timestamps: [Instant]) -> [Int] {
        var schedule = schedule
        return timestamps.indices.filter { schedule.enters(number: $0, timestamp: timestamps[$0]) }
    }

    @Test("counts frames from the recording's first")
    func frames() {
        #expect(cuts(SegmentSchedule(.frames(10)), Array(repeating: .start, count: 35)) == [10, 20, 30])
    }

    @Test("counts capture times from the first frame, without accumulating errors")
    func times() {
        // At thirty frames a second, 250 ms is not a whole number of frames.
        let times = (0..<40).map { Instant.start + .seconds(5) + .seconds($0) / 30 }
        #expect(cuts(SegmentSchedule(.time(.milliseconds(250))), times) == [8, 15, 23, 30, 38])
    }

    @Test("cuts once after a gap of several segments")
    func gap() {
        let times = [0, 1, 2, 50, 51, 52, 60].map { Instant.start + .seconds($0) }
        #expect(cuts(SegmentSchedule(.time(.seconds(10))), times) == [3, 6])
    }

    @Test("a clock that is set back moves the grid; one that jitters does not")
    func clockSetBack() {
        let jitter = [0, 500, 400, 1000, 900, 1100].map { Instant.start + .milliseconds($0) }
        #expect(cuts(SegmentSchedule(.time(.seconds(1))), jitter) == [3])
        let setBack = [0, 3, 6, 9, -3591, -3588, -3585].map { Instant.start + .seconds($0) }
        #expect(cuts(SegmentSchedule(.time(.seconds(10))), setBack) == [5])
    }

    @Test("survives any capture time")
    func hostileClock() {
        let nanoseconds: [Int64] = [.max, .min, 0, .max, 1, .min, .min + 1, -1]
        let times = nanoseconds.map { Instant(nanoseconds: $0) }
        for length in [Duration.nanoseconds(1), .seconds(1), .nanoseconds(Int64.max), .zero] {
            _ = cuts(SegmentSchedule(.time(length)), times)
        }
    }

    @Test("the grid counts from the first frame that the encoder returned")
    func anchor() {
        var schedule = SegmentSchedule(.time(.seconds(1)))
        _ = schedule.enters(number: 0, timestamp: .start)
        schedule.anchor(at: .start + .milliseconds(500))
        #expect(cuts(schedule, [0, 2, 3, 4].map { Instant.start + .milliseconds(500) * $0 }) == [2])
    }

    @Test("a segment that has its bytes ends at the next access unit that allows it")
    func bytes() {
        var schedule = SegmentSchedule(.bytes(2500))
        let units = (0..<10).map { accessUnit(length: 996, frameNumber: $0) }
        var cuts: [Int] = []
        for (number, unit) in units.enumerated() where schedule.enters(unit) {
            cuts.append(number)
            schedule.begin(with: unit)
        }
        #expect(cuts == [3, 6, 9])
    }
}
