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
    ///   - patience: ticks in a row in which the process may stand still. One in which it was busy begins the count
    ///     anew, until six times as many have gone: a slow machine takes long to load a driver, and a driver's own
    ///     threads compile while the call waits for them. Ticks are counted, and not time: a process that was
    ///     stopped, or a machine that was suspended, has done nothing meanwhile.
    ///   - tick: nanoseconds.
    ///   - call: what it holds must not be used by others before it has returned, and never where it has not.
    /// - Returns: nil where the call did not return in time.
    public static func run<Value>(
        patience: Int, tick: Int64 = 1_000_000_000, _ call: @escaping () -> Value
    ) -> Value? {
        let state = State<Value>()
        // Safe to hand over: the caller waits, or never touches what the call holds again.
        let work = Handover(call)
        let body: @Sendable () -> Void = { state.finish(work.value()) }
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

        private static var mostPatience: Int { 6 }

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
                var (ticks, idleTicks, activity) = (0, 0, ProcessActivity.untilNow)
                var next = MonotonicTime.now() + tick
                while value == nil, idleTicks < patience, ticks < Self.mostPatience * patience {
                    monitor.wait(until: next)
                    guard value == nil, MonotonicTime.now() >= next else { continue }
                    let latest = ProcessActivity.untilNow
                    ticks += 1
                    idleTicks = latest.wasBusy(since: activity, tick: tick) ? 0 : idleTicks + 1
                    (activity, next) = (latest, MonotonicTime.now() + tick)
                }
                isAbandoned = value == nil
                return value
            }
        }
    }
}
