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
    ///   - patience: ticks that the call may take. They are counted, and not time: a process that was stopped, or a
    ///     machine that was suspended, has done nothing meanwhile.
    ///   - tick: nanoseconds.
    ///   - call: what it holds must not be used by others before it has returned, and never where it has not.
    /// - Returns: nil where the call did not return in time.
    public static func run<Value>(
        patience: Int, tick: Int64 = 1_000_000_000, _ call: @escaping () -> Value
    ) -> Value? {
        let state = State<Value>()
        // Safe to hand over: the caller waits, or never touches what the call holds again.
        let work = Handover(call)
        guard let thread = WorkerThread(body: { state.finish(work.value()) }) else { return call() }
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
                var ticks = 0
                var next = MonotonicTime.now() + tick
                while value == nil, ticks < patience {
                    monitor.wait(until: next)
                    guard MonotonicTime.now() >= next else { continue }
                    ticks += 1
                    next = MonotonicTime.now() + tick
                }
                isAbandoned = value == nil
                return value
            }
        }
    }
}
