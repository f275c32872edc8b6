import Synchronization
import Testing
import CamPlatform
@testable import CamStorage

/// The moments at which files begin that are cut on the clock.
@Suite struct ClockGridTests {
    /// A wall clock that can be set.
    private final class Wall: Sendable {
        private let start: Atomic<Int64>

        /// - Parameter time: what it shows at the beginning of the capture times, in seconds of UTC.
        init(_ time: Double) { start = Atomic(Int64(time * 1e9)) }

        func advance(by seconds: Int64) { start.add(seconds * 1_000_000_000, ordering: .relaxed) }

        func time(at timestamp: Instant) -> WallTime {
            WallTime(nanoseconds: start.load(ordering: .relaxed)) + (timestamp - .start)
        }
    }

    private func grid(
        _ wall: Wall, minutes: Int, offset: @escaping @Sendable (WallTime) -> Duration = { _ in .zero }
    ) -> ClockGrid {
        ClockGrid(every: .seconds(minutes * 60), offset: offset, wallTime: { wall.time(at: $0) })
    }

    /// The capture times, in seconds, of the first frames after each moment, at a frame a second.
    private func cuts(_ grid: ClockGrid, _ seconds: Range<Int>) -> [Int] {
        var schedule = SegmentSchedule(.clock(grid))
        return seconds.filter { schedule.enters(number: $0, timestamp: .start + .seconds($0)) }
    }

    /// 2026-11-25 10:07:30 UTC.
    private static let morning = 1_795_601_250.0

    @Test("files begin at :00, :10, :20 …, and the first one when the recording does")
    func onTheClock() {
        #expect(cuts(grid(Wall(Self.morning), minutes: 10), 0..<2000) == [150, 750, 1350, 1950])
    }

    @Test("in the time zone: of an offset of 5:45, an hour begins at another time than in UTC")
    func zone() {
        let wall = Wall(Self.morning)
        // 15:52:30 there.
        let grid = grid(wall, minutes: 60) { _ in .seconds(20_700) }
        #expect(cuts(grid, 0..<5000) == [450, 4050])
    }

    @Test("a frame exactly at the moment begins the file, and one a nanosecond earlier does not")
    func exact() {
        let grid = grid(Wall(Self.morning), minutes: 10)
        #expect(grid.index(at: .start) == 0)
        #expect(grid.index(at: .start + .seconds(150) - .nanoseconds(1)) == 0)
        #expect(grid.index(at: .start + .seconds(150)) == 1)
    }

    @Test(
        "a writer that is behind finds the moments that the encode thread found, whatever the clock does meanwhile"
    )
    func behind() {
        let wall = Wall(Self.morning)
        let grid = grid(wall, minutes: 10)
        let ahead = (0..<3000).map { second in
            if second == 1000 { wall.advance(by: 1234) }
            if second == 2000 { wall.advance(by: -5000) }
            return grid.index(at: .start + .seconds(second))
        }
        wall.advance(by: 99)
        #expect((0..<3000).map { grid.index(at: .start + .seconds($0)) } == ahead)
        #expect(ahead == ahead.sorted())
    }

    @Test("after the clock was set, one file has another length, and the next are on the clock again")
    func clockSet() {
        for step in [3600, 200, -200, -3600] as [Int64] {
            let wall = Wall(Self.morning)
            let grid = grid(wall, minutes: 10)
            var schedule = SegmentSchedule(.clock(grid))
            var begun: [WallTime] = []
            for second in 0..<4000 {
                if second == 1000 { wall.advance(by: step) }
                let time = Instant.start + .seconds(second)
                if schedule.enters(number: second, timestamp: time) { begun.append(wall.time(at: time)) }
            }
            let isOnClock = begun.map { $0.seconds.isMultiple(of: 600) }
            #expect(isOnClock.prefix(2) == [true, true])
            #expect(isOnClock.dropFirst(3).allSatisfy { $0 }, "set by \(step) s")
        }
    }

    /// 2026-10-25 01:00 UTC, when Berlin's clocks go from 03:00 back to 02:00.
    private static let autumn = 1_792_890_000
    /// 2026-03-29 01:00 UTC, when Berlin's clocks go from 02:00 to 03:00.
    private static let spring = 1_774_746_000

    /// When files begin, in seconds from the change of the clocks, for two days around it.
    private func beginnings(
        _ length: Int, around change: Int, from before: Int, to after: Int, hours: Int = 48
    ) -> [Int] {
        let wall = Wall(Double(change - hours * 1800))
        let grid = ClockGrid(
            every: .seconds(length), offset: { .seconds($0.seconds < change ? before : after) },
            wallTime: { wall.time(at: $0) })
        var schedule = SegmentSchedule(.clock(grid))
        // As often as ten seconds, so that the files' lengths are multiples of that.
        let times = stride(from: 0, to: hours * 3600, by: 10)
        return times.filter { schedule.enters(number: $0, timestamp: .start + .seconds($0)) }
            .map { $0 - hours * 1800 }
    }

    @Test("when clocks go back, the hour that comes twice has its files twice")
    func winterTime() {
        let begun = beginnings(600, around: Self.autumn, from: 7200, to: 3600, hours: 4)
        #expect(begun == Array(stride(from: -7200 + 600, to: 7200, by: 600)))
    }

    @Test("when clocks go forward, the files go on")
    func summerTime() {
        let begun = beginnings(600, around: Self.spring, from: 3600, to: 7200, hours: 4)
        #expect(begun == Array(stride(from: -7200 + 600, to: 7200, by: 600)))
    }

    @Test("days begin at midnight, also when the clocks change: they have 25 hours, or 23")
    func days() {
        #expect(beginnings(86400, around: Self.autumn, from: 7200, to: 3600) == [-3 * 3600, 22 * 3600])
        #expect(beginnings(86400, around: Self.spring, from: 3600, to: 7200) == [-2 * 3600, 21 * 3600])
    }

    @Test("a moment that the change leaves out is the change itself")
    func missing() {
        // Two hours long: 02:00 does not exist, and 04:00 is an hour after the change.
        let begun = beginnings(7200, around: Self.spring, from: 3600, to: 7200, hours: 8)
        #expect(begun == [-3 * 3600 + 3600, 0, 3600, 3 * 3600].filter { $0 > -4 * 3600 })
        // As in Cairo: midnight does not exist.
        let midnight = 1_776_981_600  // 2026-04-23 22:00 UTC
        #expect(beginnings(86400, around: midnight, from: 7200, to: 10_800) == [0, 23 * 3600])
    }

    @Test("after a gap of several files one begins, and the next on the clock")
    func gap() {
        let grid = grid(Wall(Self.morning), minutes: 10)
        var schedule = SegmentSchedule(.clock(grid))
        let seconds = [0, 100, 2000, 2001, 2549, 2550]
        let cuts = seconds.filter { schedule.enters(number: $0, timestamp: .start + .seconds($0)) }
        #expect(cuts == [2000, 2550])
    }

    @Test("remembers enough moments, and not more, however long it records")
    func long() {
        let grid = ClockGrid(every: .seconds(1), offset: { _ in .zero }, wallTime: Wall(0).time)
        for second in 0..<20_000 { #expect(grid.index(at: .start + .seconds(second)) == second) }
        #expect(grid.index(at: .start + .seconds(18_500)) == 18_500)
    }

    @Test("survives any capture time and any wall clock")
    func hostile() {
        let times = [Int64.max, .min, 0, .max, 1, .min, -1].map { Instant(nanoseconds: $0) }
        for wall in [Int64.max, .min, 0, -1] {
            let grid = ClockGrid(
                every: .seconds(600), offset: { _ in .seconds(3600) },
                wallTime: { _ in WallTime(nanoseconds: wall) })
            for time in times { _ = grid.index(at: time) }
        }
    }

    @Test(
        "accepts lengths that put the moments at the same times every day",
        arguments: [
            (600, true), (3600, true), (86400, true), (172_800, false), (420, false), (7 * 3600, false),
            (90, true),
        ])
    func lengths(seconds: Int, isAllowed: Bool) {
        #expect(ClockGrid.allows(.seconds(seconds)) == isAllowed)
        #expect(!ClockGrid.allows(.milliseconds(500)))
    }
}
