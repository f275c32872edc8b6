import Glibc

/// Runs calls that may never return, each on a thread of its own.
///
/// A driver's call can't be cancelled. So the thread is left where it is, with everything that the call holds, and
/// stays there even if the call returns after all.
public enum WatchedCall {
    /// Runs a call and waits for it.
    ///
    /// Where the system allows no more threads, the call runs on the caller's.
    /// - Parameters:
    ///   - patience: ticks in a row in which the call may stand still. One in which its thread ran begins the count
    ///     anew, until six times as many have gone: a slow machine takes long to load a driver. Ticks are counted, and
    ///     not time: a process that was stopped, or a machine that was suspended, has done nothing meanwhile.
    ///   - tick: nanoseconds.
    ///   - call: what it holds must not be used by others before it has returned, and never where it has not.
    /// - Returns: nil where the call did not return in time.
    public static func run<Value>(
        patience: Int, tick: Int64 = 1_000_000_000, _ call: @escaping () -> Value
    ) -> Value? {
        let state = State<Value>()
        // Safe to hand over: the caller waits, or never touches what the call holds again.
        let work = Handover(call)
        let body: @Sendable () -> Void = {
            state.begin()
            state.finish(work.value())
        }
        guard let thread = WorkerThread(body: body) else { return call() }
        guard let value = state.wait(patience: patience, tick: tick) else {
            thread.detach()
            return nil
        }
        thread.join()
        return value
    }

    private final class State<Value>: @unchecked Sendable {
        // Safe to share: the lock is held wherever the values are touched.
        private let monitor = Monitor()
        private var value: Value?
        private var isAbandoned = false
        /// Of the call's thread.
        private var clock: clockid_t?

        /// Nanoseconds of a processor that count as having run in a tick.
        private static var leastProgress: Int64 { 1_000_000 }
        private static var mostPatience: Int { 6 }

        func begin() {
            var clock = clockid_t()
            guard pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return }
            monitor.withLock { self.clock = clock }
        }

        /// Processor time of the call's thread, which has not ended.
        private var runTime: Int64 {
            var time = timespec()
            guard let clock, clock_gettime(clock, &time) == 0 else { return 0 }
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }

        /// Does not return where the caller has gone on.
        func finish(_ result: Value) {
            let isTooLate = monitor.withLock {
                if !isAbandoned { value = result }
                monitor.signal()
                return isAbandoned
            }
            while isTooLate { pause() }
        }

        func wait(patience: Int, tick: Int64) -> Value? {
            monitor.withLock {
                var (ticks, idleTicks, lastRunTime) = (0, 0, Int64(0))
                var next = MonotonicTime.now() + tick
                while value == nil, idleTicks < patience, ticks < Self.mostPatience * patience {
                    monitor.wait(until: next)
                    guard value == nil, MonotonicTime.now() >= next else { continue }
                    let runTime = runTime
                    ticks += 1
                    idleTicks = runTime - lastRunTime < Self.leastProgress ? idleTicks + 1 : 0
                    (lastRunTime, next) = (runTime, MonotonicTime.now() + tick)
                }
                isAbandoned = value == nil
                return value
            }
        }
    }
}
