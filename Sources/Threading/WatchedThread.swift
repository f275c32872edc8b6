import Glibc
import Time

/// A thread that makes calls, one after another, that may never return.
///
/// A driver's call cannot be cancelled, so the thread is abandoned together with everything that the call
/// holds, even if the call returns after all; no more calls are made then.
public final class WatchedThread: Sendable {
    private let calls = Calls()
    /// False if the system allows no more threads: calls then run on their callers' threads.
    private let isThere: Bool

    /// Starts the thread.
    public init() {
        let worker = WorkerThread { [calls] in calls.makeAll() }
        isThere = worker != nil
        worker?.detach()
    }

    deinit { calls.end() }

    /// Makes a call and waits for it. A call within a call runs at once.
    /// - Parameters:
    ///   - patience: how many ticks in a row the process may be idle. A busy tick resets the count, up to six times
    ///     `patience` in total: slow machines take long to load a driver, whose own threads may compile shaders while
    ///     the call waits for them. It counts ticks instead of time, because a stopped process or a suspended
    ///     machine does no work.
    ///   - tick: how often the process's activity is checked.
    ///   - call: its captured values must not be used elsewhere until it has returned, and never if it has not.
    /// - Returns: nil if the call did not return in time, or an earlier one never did.
    @discardableResult public func run<Value>(
        patience: Int, tick: Duration = .seconds(1), _ call: @escaping () -> Value
    ) -> Value? {
        guard isThere, !calls.isCaller else { return call() }
        let outcome = Outcome<Value>()
        return calls.make({ outcome.value = call() }, patience: patience, tick: tick) ? outcome.value : nil
    }

    /// Written by the thread, and read by the caller only afterwards.
    private final class Outcome<Value> { var value: Value? }

    fileprivate final class Calls: @unchecked Sendable {
        // Safe to share: all mutable state is accessed with the lock held.
        private let monitor = Monitor()
        private var state = State.idle
        private var call: (() -> Void)?
        private var thread: pthread_t?
        /// Whether a caller waits for its call.
        private var isTaken = false

        private enum State {
            case idle
            /// A call is waiting or running.
            case busy
            /// The call has returned and is releasing its captured values.
            case returned
            /// The caller has continued without the call.
            case abandoned
            case over
        }

        private static let mostPatience = 6
    }
}

extension WatchedThread.Calls {
    // MARK: The thread

    fileprivate func makeAll() {
        monitor.withLock { thread = pthread_self() }
        while makeNext() {
            set(.idle)
        }
    }

    /// Makes the next call and releases it. Returns false if there are no more.
    private func makeNext() -> Bool {
        guard let call = take() else { return false }
        call()
        let isTooLate = monitor.withLock {
            if state == .busy { state = .returned }
            return state == .abandoned
        }
        // The call's captured values were abandoned.
        while isTooLate { withExtendedLifetime(call) { _ = pause() } }
        return true
    }

    private func take() -> (() -> Void)? {
        monitor.withLock {
            while call == nil, state != .over { monitor.wait() }
            return call.take()
        }
    }

    private func set(_ next: State) {
        monitor.withLock {
            if state != .over, state != .abandoned { state = next }
            monitor.signal()
        }
    }

    // MARK: Callers

    /// Whether the current thread is the watched one.
    fileprivate var isCaller: Bool {
        monitor.withLock { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    fileprivate func end() { set(.over) }

    /// Makes a call and returns whether it returned in time.
    fileprivate func make(_ next: @escaping () -> Void, patience: Int, tick: Duration) -> Bool {
        monitor.withLock {
            while isTaken { monitor.wait() }
            guard state == .idle else { return false }
            (isTaken, state, call) = (true, .busy, next)
            monitor.signal()
            wait(patience: patience, tick: tick)
            isTaken = false
            monitor.signal()
            return state == .idle
        }
    }

    /// Waits, with the lock held, until the call has returned or patience runs out.
    private func wait(patience: Int, tick: Duration) {
        var (ticks, idleTicks, activity) = (0, 0, ProcessActivity.untilNow)
        var next = Instant.now + tick
        while state != .idle {
            if state == .busy, idleTicks >= patience || ticks >= Self.mostPatience * patience {
                state = .abandoned
                return
            }
            monitor.wait(until: next)
            guard Instant.now >= next else { continue }
            let latest = ProcessActivity.untilNow
            ticks += 1
            idleTicks = latest.wasBusy(since: activity, tick: tick) ? 0 : idleTicks + 1
            (activity, next) = (latest, .now + tick)
        }
    }
}
