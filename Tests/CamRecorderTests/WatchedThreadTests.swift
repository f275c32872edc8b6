import Glibc
import Testing

@testable import CamPlatform

@Suite struct WatchedThreadTests {
    @Test("returns the call's result")
    func returns() { #expect(WatchedThread().run(patience: 1000) { 6 * 7 } == 42) }

    @Test("gives up a call that never returns, and continues")
    func hangs() {
        let never = Monitor()
        let result: Int? = WatchedThread().run(patience: 3, tick: .milliseconds(1)) {
            never.withLock { while true { never.wait() } }
        }
        #expect(result == nil)
    }

    @Test("gives up a call whose captured values are never destroyed, and makes no more")
    func hangsAtRelease() {
        let thread = WatchedThread()
        let result: Int? = thread.run(patience: 3, tick: .milliseconds(1)) { [driver = HangingDriver()] in
            withExtendedLifetime(driver) { 1 }
        }
        #expect(result == nil)
        #expect(thread.run(patience: 1000) { 2 } == nil)
    }

    /// Hangs when it is closed.
    private final class HangingDriver {
        deinit {
            let never = Monitor()
            never.withLock { while true { never.wait() } }
        }
    }

    @Test("makes calls one after another, on one thread that is not the caller's")
    func oneThread() {
        let thread = WatchedThread()
        let threads = (0..<3).map { _ in thread.run(patience: 1000) { UInt(pthread_self()) } }
        #expect(Set(threads).count == 1)
        #expect(threads[0] != UInt(pthread_self()))
    }

    @Test("has a stack smaller than a huge page, which the kernel might put beneath it")
    func stack() throws {
        // The thread still waits for calls when this reads where its stack is.
        let thread = WatchedThread()
        let address = try #require(
            thread.run(patience: 1000) { () -> UInt in
                var local = 0
                return withUnsafePointer(to: &local) { UInt(bitPattern: $0) }
            })
        let maps = String(
            decoding: try WholeFile.read("/proc/self/maps", atMost: 1 << 24), as: UTF8.self)
        let sizes = maps.split(separator: "\n").compactMap { line -> UInt? in
            let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
            return range.count == 2 && (range[0]..<range[1]).contains(address) ? range[1] - range[0] : nil
        }
        #expect(sizes.count == 1 && sizes[0] < 2 << 20)
        withExtendedLifetime(thread) {}
    }

    @Test("makes a call within a call at once")
    func nested() {
        let thread = WatchedThread()
        #expect(thread.run(patience: 1000) { thread.run(patience: 1000) { 6 * 7 } } == 42)
    }

    @Test("releases a call's captures before its caller continues")
    func letsGo() {
        let thread = WatchedThread()
        for _ in 0..<100 {
            let gate = Gate()
            var value: Value? = Value(gate)
            thread.run(patience: 1000) { [value] in _ = value }
            value = nil
            #expect(gate.isReleased)
        }
    }

    @Test("makes no more calls after one that never returned")
    func nothingMore() {
        let thread = WatchedThread()
        let never = Monitor()
        let hung: Int? = thread.run(patience: 3, tick: .milliseconds(1)) {
            never.withLock { while true { never.wait() } }
        }
        #expect(hung == nil)
        #expect(thread.run(patience: 1000) { 1 } == nil)
    }

    @Test("calls of several threads take turns")
    func turns() {
        let thread = WatchedThread()
        // Touched by the watched thread alone.
        nonisolated(unsafe) var count = 0
        let workers = (0..<4).map { _ in
            let done = Gate()
            WorkerThread {
                for _ in 0..<50 { thread.run(patience: 1000) { count += 1 } }
                done.open()
            }?.detach()
            return done
        }
        for worker in workers { worker.pass() }
        #expect(thread.run(patience: 1000) { count } == 200)
    }

    @Test("gives a busy call more time than a stalled one")
    func busy() {
        // Other tests leave it a fraction of a processor: a fifth is enough.
        let result = WatchedThread().run(patience: 20, tick: .milliseconds(50)) {
            // More ticks of processor time than it may be idle.
            let end = Self.processorTime() + .milliseconds(1100)
            while Self.processorTime() < end {}
            return 1
        }
        #expect(result == 1)
    }

    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test("a process is busy if any thread computes or reads pages from a disk")
    func activity() {
        func wasBusy(milliseconds: Int, faults: Int) -> Bool {
            ProcessActivity(processorTime: .milliseconds(7000 + milliseconds), majorFaults: 3 + faults)
                .wasBusy(
                    since: ProcessActivity(processorTime: .seconds(7), majorFaults: 3), tick: .seconds(1))
        }
        #expect(!wasBusy(milliseconds: 0, faults: 0))
        #expect(!wasBusy(milliseconds: 49, faults: 0), "a driver that polls, and pictures thrown away")
        #expect(wasBusy(milliseconds: 50, faults: 0))
        #expect(wasBusy(milliseconds: 0, faults: 1))

        let before = ProcessActivity.untilNow
        let worker = WorkerThread {
            let end = Self.processorTime() + .milliseconds(30)
            while Self.processorTime() < end {}
        }
        worker?.join()
        #expect(ProcessActivity.untilNow.wasBusy(since: before, tick: .milliseconds(500)))
    }

    @Test("a call that returns too late changes nothing")
    func late() {
        let gate = Gate()
        let result = WatchedThread().run(patience: 3, tick: .milliseconds(1)) {
            gate.pass()
            return Value(gate)
        }
        #expect(result == nil)
        gate.open()
        // The thread keeps its value: it neither returns nor ends.
        gate.waitUntilPassed()
        #expect(!gate.isReleased(within: .milliseconds(100)))
    }

    private final class Value {
        private let gate: Gate
        init(_ gate: Gate) { self.gate = gate }
        deinit { gate.release() }
    }

    /// Blocks callers of `pass` until it is open.
    private final class Gate: @unchecked Sendable {
        // Safe to share: all of it is touched with the lock held.
        private let monitor = Monitor()
        private var (isOpen, isPassed, released) = (false, false, false)

        func open() { set { isOpen = true } }
        func release() { set { released = true } }
        var isReleased: Bool { monitor.withLock { released } }

        /// - Parameter duration: nanoseconds.
        func isReleased(within duration: Duration) -> Bool {
            let end = Instant.now + duration
            return monitor.withLock {
                while !released, Instant.now < end { monitor.wait(until: end) }
                return released
            }
        }

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
