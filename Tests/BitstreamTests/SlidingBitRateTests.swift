import Testing
import TestSupport
import CamPlatform

@testable import Bitstream

@Suite struct SlidingBitRateTests {
    /// The most that a window contains, found by checking every window.
    private func largest(_ units: [(time: Instant, bits: Int)], window: Duration) -> Int {
        units.map { last in
            units.reduce(0) { $0 + (last.time - window < $1.time && $1.time <= last.time ? $1.bits : 0) }
        }.max() ?? 0
    }

    @Test("finds the same fullest window as a check of all windows", arguments: [0, 3, 16])
    func random(reordering: Int) {
        var generator = SeededGenerator(seed: UInt64(reordering + 1))
        for _ in 0..<50 {
            var time = Instant.start
            var units = (0..<Int.random(in: 1...300, using: &generator)).map { _ in
                time += .nanoseconds(Int64.random(in: 0...90_000_000, using: &generator))
                return (time: time, bits: Int.random(in: 0...100_000, using: &generator))
            }
            // B pictures come after those captured later, at most `reordering` places from their own.
            for index in stride(from: 0, to: units.count - reordering, by: reordering + 1)
            where reordering > 0 {
                units.insert(units.remove(at: index + reordering), at: index)
            }
            let window = Duration.nanoseconds(Int64.random(in: 1...2_000_000_000, using: &generator))
            var rate = SlidingBitRate(window: window, reordering: reordering)
            for unit in units { rate.add(timestamp: unit.time, bits: unit.bits) }
            rate.finish()
            #expect(rate.largestWindow == largest(units, window: window))
            #expect(rate.totalBits == units.reduce(0) { $0 + $1.bits })
        }
    }

    @Test("a clock that jumps ahead once and returns fills no window with later pictures")
    func jump() {
        var rate = SlidingBitRate(window: .seconds(1))
        for number in 0..<300 {
            let time = Instant.start + .seconds(number) / 30
            rate.add(timestamp: number == 40 ? time + .seconds(3600) : time, bits: 1000)
        }
        #expect(rate.largestWindow == 30_000)
    }

    @Test("a unit older than the window is out, a younger one is in")
    func edges() {
        var rate = SlidingBitRate(window: .seconds(1))
        rate.add(timestamp: .start, bits: 100)
        rate.add(timestamp: .start + .nanoseconds(999_999_999), bits: 10)
        #expect(rate.largestWindow == 110)
        rate.forgetWindows()
        rate.add(timestamp: .start, bits: 100)
        rate.add(timestamp: .start + .seconds(1), bits: 10)
        #expect(rate.largestWindow == 100)
        #expect(rate.peakBitRate == 100)
    }

    @Test(
        "survives more frames than expected, and clocks that stop or jump, in bounded memory")
    func strange() {
        var rate = SlidingBitRate(window: .seconds(1), reordering: 16)
        for _ in 0..<200_000 { rate.add(timestamp: .start, bits: 1) }
        rate.add(timestamp: .distantFuture, bits: 7)
        rate.add(timestamp: .distantPast, bits: 7)
        rate.add(timestamp: .start, bits: 7)
        rate.finish()
        #expect(rate.totalBits == 200_021)
        #expect(rate.largestWindow >= 1 << 15)
    }
}
