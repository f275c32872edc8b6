import Glibc
import Testing

@testable import Threading

@Suite struct WatchedCallTests {
    @Test("gives what the call returns")
    func returns() { #expect(WatchedCall.run(patience: 1000) { 6 * 7 } == 42) }

    @Test("gives up a call that never returns, and goes on")
    func hangs() {
        let never = Monitor()
        let result: Int? = WatchedCall.run(patience: 3, tick: 1_000_000) {
            never.withLock { while true { never.wait() } }
        }
        #expect(result == nil)
    }

    @Test("a call that is busy gets more time than one that stands still")
    func busy() {
        // Other tests leave it a fraction of a processor: a fifth is enough.
        let result = WatchedCall.run(patience: 20, tick: 50_000_000) {
            // More ticks' worth of a processor than it may stand still.
            let end = Self.processorTime() + 1_100_000_000
            while Self.processorTime() < end {}
            return 1
        }
        #expect(result == 1)
    }

    private static func processorTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    @Test("a process is busy that computes, in whichever thread, or reads pages from a disk")
    func activity() {
        func wasBusy(milliseconds: Int64, faults: Int) -> Bool {
            ProcessActivity(processorTime: 7_000_000_000 + milliseconds * 1_000_000, majorFaults: 3 + faults)
                .wasBusy(
                    since: ProcessActivity(processorTime: 7_000_000_000, majorFaults: 3), tick: 1_000_000_000)
        }
        #expect(!wasBusy(milliseconds: 0, faults: 0))
        #expect(!wasBusy(milliseconds: 49, faults: 0), "a driver that polls, and pictures thrown away")
        #expect(wasBusy(milliseconds: 50, faults: 0))
        #expect(wasBusy(milliseconds: 0, faults: 1))

        let before = ProcessActivity.untilNow
        let worker = WorkerThread {
            let end = Self.processorTime() + 30_000_000
            while Self.processorTime() < end {}
        }
        worker?.join()
        #expect(ProcessActivity.untilNow.wasBusy(since: before, tick: 500_000_000))
    }

    @Test("a call that returns too late changes nothing any more")
    func late() {
        let gate = Gate()
        let result = WatchedCall.run(patience: 3, tick: 1_000_000) {
            gate.pass()
            return Value(gate)
        }
        #expect(result == nil)
        gate.open()
        // The thread holds on to its value: it neither returns nor ends.
        gate.waitUntilPassed()
        #expect(!gate.isReleased)
    }

    private final class Value {
        private let gate: Gate
        init(_ gate: Gate) { self.gate = gate }
        deinit { gate.release() }
    }

    /// Holds up whoever passes until it is open.
    private final class Gate: @unchecked Sendable {
        // Safe to share: all of it is touched with the lock held.
        private let monitor = Monitor()
        private var (isOpen, isPassed, released) = (false, false, false)

        func open() { set { isOpen = true } }
        func release() { set { released = true } }
        var isReleased: Bool { monitor.withLock { released } }

        func pass() {
            monitor.withLock {
                while !isOpen { monitor.wait() }
                isPassed = true
                monitor.signal()
            }
        }

        func waitUntilPassed() {
            monitor.withLock { while !isPassed { monitor.wait() } }
        }

        private func set(_ change: () -> Void) {
            monitor.withLock {
                change()
                monitor.signal()
            }
        }
    }
}
