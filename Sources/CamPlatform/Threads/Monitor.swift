import Glibc
import Synchronization

/// A mutex with a condition variable.
///
/// Uses POSIX primitives in separately allocated memory: `Synchronization.Mutex` has no condition, and
/// ThreadSanitizer reports it as a race on this toolchain.
public final class Monitor: @unchecked Sendable {
    // Safe to share: the pointers never change, and their targets are thread-safe.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Creates an unlocked monitor.
    public init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with the lock held. The lock is not recursive.
    public func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Waits, with the lock held, for a signal or the deadline. May also wake spuriously.
    public func wait(until deadline: Instant? = nil) {
        guard let deadline else {
            pthread_cond_wait(condition, mutex)
            return
        }
        let (seconds, rest) = max(0, deadline.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
        pthread_cond_timedwait(condition, mutex, &time)
    }

    /// Wakes every waiting thread.
    public func signal() { pthread_cond_broadcast(condition) }
}

/// Lets one thread at a time make calls that may never return: other threads wait, but only until a deadline.
public final class TimedLock: @unchecked Sendable {
    // Safe to share: the state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private var isTaken = false

    /// Creates a lock that is free.
    public init() {}

    /// Waits for the lock and takes it.
    /// - Returns: false if another thread still had it at the deadline.
    public func take(until deadline: Instant) -> Bool {
        monitor.withLock {
            while isTaken {
                guard Instant.now < deadline else { return false }
                monitor.wait(until: deadline)
            }
            isTaken = true
            return true
        }
    }

    /// Releases the lock and wakes the waiting threads.
    public func giveBack() {
        monitor.withLock {
            isTaken = false
            monitor.signal()
        }
    }
}

// MARK: - Counters

/// Counters that any thread may increment and read.
public final class Counters<Counter: CaseIterable & RawRepresentable<Int> & Sendable>: Sendable {
    private let cells = Counter.allCases.map { _ in Cell() }

    /// Creates counters at zero.
    public init() {}

    /// The current value.
    public subscript(_ counter: Counter) -> Int { cells[counter.rawValue].value.load(ordering: .relaxed) }

    /// Adds to a counter.
    public func add(_ amount: Int = 1, to counter: Counter) {
        cells[counter.rawValue].value.wrappingAdd(amount, ordering: .relaxed)
    }

    private final class Cell: Sendable {
        let value = Atomic<Int>(0)
    }
}
