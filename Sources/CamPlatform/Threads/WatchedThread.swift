import Glibc
import Synchronization

/// A thread that makes calls, one after another, that may never return.
///
/// A driver's call cannot be canceled, so the thread is abandoned together with everything that the call
/// holds, even if the call returns after all. An abandoned thread makes no more calls.
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

/// A call, without its result type.
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

/// The work a process has done so far. Comparing two values shows whether it worked or waited in between.
struct ProcessActivity {
    /// The processor time of all threads.
    let processorTime: Duration
    /// Pages read from a disk (getrusage(2)), such as those of a library being loaded.
    let majorFaults: Int

    static var untilNow: Self {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        let time = Duration.seconds(usage.ru_utime.tv_sec) + .microseconds(usage.ru_utime.tv_usec)
        return Self(
            processorTime: time + .seconds(usage.ru_stime.tv_sec) + .microseconds(usage.ru_stime.tv_usec),
            majorFaults: usage.ru_majflt)
    }

    /// Returns whether the process used at least a twentieth of a processor, or read pages from disk. Discarding a
    /// camera's frames, or polling a GPU that does not answer, takes less.
    /// - Parameter tick: the time between the two values.
    func wasBusy(since earlier: Self, tick: Duration) -> Bool {
        processorTime - earlier.processorTime >= tick / 20 || majorFaults > earlier.majorFaults
    }
}

// MARK: - Calls on the caller's own thread

/// Lets another thread detect that a call never returns, and take over. See `ReplaceableThread`.
///
/// A driver's call cannot be canceled, so its thread is abandoned. The caller increments the call's number
/// when the call returns, the watchdog when patience runs out; the first of the two owns everything that the
/// caller had. If an abandoned call returns after all, its thread stops before it touches anything.
public final class CallWatch: Sendable {
    /// Odd during a call.
    private let number = Atomic<Int>(0)
    private let patience = Atomic<Int>(0)

    /// Creates a watch without a call.
    public init() {}

    /// A call in progress.
    public struct Call {
        fileprivate let number: Int
    }

    /// Begins a call; use it right before the call. One thread at a time makes calls.
    /// - Parameter patience: the watchdog ticks that it may take; nil for no limit.
    public func begin(patience: Int?) -> Call {
        self.patience.store(patience ?? .max, ordering: .relaxed)
        return Call(number: number.wrappingAdd(1, ordering: .releasing).newValue)
    }

    /// Ends a call; use it right after the call. Never returns if the thread was abandoned during the call.
    public func end(_ call: Call) {
        while !number.compareExchange(
            expected: call.number, desired: call.number + 1, ordering: .acquiringAndReleasing
        ).exchanged {
            pause()
        }
    }

    /// Measures how long calls take. Used by one thread, the watchdog.
    public struct Watchdog {
        private let watch: CallWatch
        private var lastNumber = 0
        private var ticks = 0

        /// Creates a watchdog for a watch's calls.
        public init(_ watch: CallWatch) { self.watch = watch }

        /// Checks the current call; use it about every second. It counts ticks instead of time, because a stopped
        /// process or a suspended machine does no work.
        /// - Returns: true if the calling thread was abandoned just now.
        public mutating func tick() -> Bool {
            let number = watch.number.load(ordering: .acquiring)
            guard !number.isMultiple(of: 2), number == lastNumber else {
                (lastNumber, ticks) = (number, 0)
                return false
            }
            ticks += 1
            guard ticks >= watch.patience.load(ordering: .relaxed) else { return false }
            return watch.number.compareExchange(
                expected: number, desired: number + 1, ordering: .acquiringAndReleasing
            ).exchanged
        }
    }
}

// MARK: - A thread that is replaced

/// A thread that performs a task whenever its owner asks, and is replaced when one of the task's watched calls
/// never returns.
///
/// The owner waits for the task, and is the watchdog meanwhile. A task may hand over in between: its thread waits then,
/// until the owner has taken what there is. Asking and handing over allocate nothing.
public final class ReplaceableThread: @unchecked Sendable {
    // Safe to share: the state is accessed with the lock held. The functions are called by one thread at a time,
    // because an abandoned thread never returns from its call.
    private let monitor = Monitor()
    private var state = State.idle
    private var hasThread = false
    private var watchdog: CallWatch.Watchdog
    private let tick: Duration?
    private let task: () -> Void
    private let takeOver: () -> Void
    private let recover: (_ isLast: Bool) -> Void

    private enum State { case idle, asked, busy, handingOver, over }

    /// Creates the thread's owner; the thread starts with the first task.
    /// - Parameters:
    ///   - watch: watches the task's calls.
    ///   - isWatched: false if the owner's `look` is called by others instead.
    ///   - task: performed by the thread.
    ///   - takeOver: called by the owner when the task hands over.
    ///   - recover: completes a task whose thread was abandoned, on another thread, which may be abandoned in
    ///     turn. `isLast` if the system allows no more threads: a call that hangs then hangs the owner.
    public init(
        _ watch: CallWatch, isWatched: Bool = true, task: @escaping () -> Void,
        takeOver: @escaping () -> Void,
        recover: @escaping (_ isLast: Bool) -> Void
    ) {
        watchdog = CallWatch.Watchdog(watch)
        tick = isWatched ? .seconds(1) : nil
        (self.task, self.takeOver, self.recover) = (task, takeOver, recover)
    }

    /// Performs the task and waits until it is complete. Without a thread, the owner performs it.
    public func perform() {
        guard ask() else { return task() }
        while true {
            switch wait(until: tick.map { .now + $0 }) {
            case .idle: return
            case .handingOver:
                takeOver()
                set(.busy)
            default: look()
            }
        }
    }

    /// Lets the owner take what there is so far, and waits for it. Called by the task.
    public func handOver() {
        guard monitor.withLock({ hasThread }) else { return takeOver() }
        monitor.withLock {
            state = .handingOver
            monitor.signal()
            while state == .handingOver { monitor.wait() }
        }
    }

    /// Ends the thread. Call it between tasks; the owner performs any later task.
    public func end() {
        monitor.withLock {
            (state, hasThread) = (.over, false)
            monitor.signal()
        }
    }

    /// Checks for a hang; called once a second during a task.
    public func look() {
        guard watchdog.tick() else { return }
        if start(isReplacement: true) { return }
        monitor.withLock { hasThread = false }
        recover(true)
        set(.idle)
    }

    private func ask() -> Bool {
        let (isOver, isThere) = monitor.withLock { (state == .over, hasThread) }
        if isOver { return false }
        if !isThere {
            guard start(isReplacement: false) else { return false }
            monitor.withLock { hasThread = true }
        }
        set(.asked)
        return true
    }

    private func set(_ next: State) {
        monitor.withLock {
            state = next
            monitor.signal()
        }
    }

    /// Waits until the task is complete or hands over, or the deadline passes. Returns the state then.
    private func wait(until deadline: Instant?) -> State {
        monitor.withLock {
            while state != .idle, state != .handingOver {
                if let deadline, .now >= deadline { break }
                monitor.wait(until: deadline)
            }
            return state
        }
    }

    private func start(isReplacement: Bool) -> Bool {
        guard let thread = WorkerThread(body: { [self] in serve(isReplacement) }) else { return false }
        thread.detach()
        return true
    }

    private func serve(_ isReplacement: Bool) {
        if isReplacement {
            recover(false)
            set(.idle)
        }
        while isAsked() {
            task()
            set(.idle)
        }
    }

    /// Waits for a task. Returns false at the end.
    private func isAsked() -> Bool {
        monitor.withLock {
            while state != .asked, state != .over { monitor.wait() }
            guard state == .asked else { return false }
            state = .busy
            return true
        }
    }
}
