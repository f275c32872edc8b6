import Synchronization
import Testing
import Time

@testable import Output

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

    @Test("days begin at midnight, also after the clock was put back or forward for summer")
    func summerTime() {
        // 2026-10-25 in Berlin: at 01:00 UTC local time goes from 03:00 back to 02:00.
        let change = 1_792_890_000
        let berlin: @Sendable (WallTime) -> Duration = {
            $0.seconds < change ? .seconds(7200) : .seconds(3600)
        }
        let noonBefore = Wall(Double(change - 15 * 3600))
        let back = ClockGrid(every: .seconds(86400), offset: berlin, wallTime: { noonBefore.time(at: $0) })
        // From noon it is 12 hours to midnight, and then 25 hours.
        #expect(cuts(back, 0..<200_000) == [12 * 3600, 37 * 3600])
        let london: @Sendable (WallTime) -> Duration = { $0.seconds < change ? .zero : .seconds(3600) }
        let forward = ClockGrid(every: .seconds(86400), offset: london, wallTime: { noonBefore.time(at: $0) })
        // 10:00 there, and then a day of 23 hours.
        #expect(cuts(forward, 0..<200_000) == [14 * 3600, 37 * 3600])
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
            (600, true), (3600, true), (86400, true), (172_800, true), (420, false), (7 * 3600, false),
            (90, true),
        ])
    func lengths(seconds: Int, isAllowed: Bool) {
        #expect(ClockGrid.allows(.seconds(seconds)) == isAllowed)
        #expect(!ClockGrid.allows(.milliseconds(500)))
    }
}
