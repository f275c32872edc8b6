import Glibc

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
    /// - Returns: nil if the call did not return and release its captured values in time, or an earlier one never did.
    @discardableResult public func run<Value>(
        patience: Int, tick: Duration = .seconds(1), _ call: consuming @escaping () -> Value
    ) -> Value? {
        guard isThere, !calls.isCaller else { return call() }
        let work = Work(call)
        return calls.make(work, patience: patience, tick: tick) ? work.value : nil
    }

    /// A call and its result: written by the thread, and read by the caller only afterwards.
    private final class Work<Value>: WatchedWork {
        private var call: (() -> Value)?
        private(set) var value: Value?

        /// Nothing else may keep the call, or its captured values would be destroyed elsewhere.
        init(_ call: consuming @escaping () -> Value) { self.call = call }

        func make() { value = call?() }

        func release() { call = nil }
    }

    fileprivate final class Calls: @unchecked Sendable {
        // Safe to share: all mutable state is accessed with the lock held.
        private let monitor = Monitor()
        private var state = State.idle
        private var work: (any WatchedWork)?
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

/// A call whose type does not matter.
private protocol WatchedWork: AnyObject {
    /// Makes the call.
    func make()
    /// Destroys the values that the call captured.
    func release()
}

extension WatchedThread.Calls {
    // MARK: The thread

    fileprivate func makeAll() {
        monitor.withLock { thread = pthread_self() }
        while makeNext() {
            set(.idle)
        }
        // Another thread may get its identifier.
        monitor.withLock { thread = nil }
    }

    /// Makes the next call and releases it. Returns false if there are no more.
    private func makeNext() -> Bool {
        guard let work = take() else { return false }
        work.make()
        let isTooLate = monitor.withLock {
            if state == .busy { state = .returned }
            return state == .abandoned
        }
        // The call's captured values were abandoned.
        while isTooLate { withExtendedLifetime(work) { _ = pause() } }
        work.release()
        return true
    }

    private func take() -> (any WatchedWork)? {
        monitor.withLock {
            while work == nil, state != .over, state != .abandoned { monitor.wait() }
            return work.take()
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
    fileprivate func make(_ next: any WatchedWork, patience: Int, tick: Duration) -> Bool {
        monitor.withLock {
            while isTaken { monitor.wait() }
            guard state == .idle else { return false }
            (isTaken, state, work) = (true, .busy, next)
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
            // The values that a call captured may hang, too, when they are destroyed.
            if idleTicks >= patience || ticks >= Self.mostPatience * patience {
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
