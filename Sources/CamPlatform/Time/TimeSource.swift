import Glibc

/// Provides the time. Tests replace the system's clocks with their own.
public protocol TimeSource: Sendable {
    /// The current instant.
    var now: Instant { get }

    /// The current wall-clock time.
    var wallTime: WallTime { get }

    /// Approximately how long the machine has been suspended since boot.
    var suspendedTime: Duration { get }
}

extension TimeSource {
    /// Returns the wall-clock time at an instant, according to the current wall clock. The result is off if
    /// the clock was set or the machine was suspended since that instant.
    public func wallTime(at instant: Instant) -> WallTime {
        var (before, wall, after) = (now, wallTime, now)
        // Other threads may run between the readings.
        for _ in 0..<3 where after - before > .microseconds(20) {
            (before, wall, after) = (now, wallTime, now)
        }
        return wall - (before - instant)
    }
}

/// The system's clocks.
public struct SystemTime: TimeSource {
    /// The system's clocks.
    public init() {}

    public var now: Instant { .now }

    public var wallTime: WallTime { .now }

    /// CLOCK_MONOTONIC stops while the machine is suspended; CLOCK_BOOTTIME does not.
    public var suspendedTime: Duration {
        .nanoseconds(Instant.nanoseconds(CLOCK_BOOTTIME)) - .nanoseconds(Instant.now.nanoseconds)
    }
}

// MARK: - Waits that can end early

/// A clock whose waits end as soon as a stop is requested. Tests script it.
public protocol InterruptibleClock: AnyObject, TimeSource {
    /// Whether a stop was requested.
    var isStopRequested: Bool { get }

    /// Waits until a deadline.
    /// - Returns: true as soon as a stop is requested.
    func wait(until deadline: Instant) -> Bool
}

/// The system's clocks, with waits that any thread can end. A stop cannot be withdrawn.
public final class StoppableTime: InterruptibleClock, @unchecked Sendable {
    // Safe to share: the flag is accessed with the lock held.
    private let monitor = Monitor()
    private var isStopped = false

    /// Creates a clock that is not stopped.
    public init() {}

    public var isStopRequested: Bool { monitor.withLock { isStopped } }

    /// Ends all waits, from any thread.
    public func requestStop() {
        monitor.withLock {
            isStopped = true
            monitor.signal()
        }
    }

    public var now: Instant { .now }

    public var wallTime: WallTime { .now }

    public var suspendedTime: Duration { SystemTime().suspendedTime }

    public func wait(until deadline: Instant) -> Bool {
        monitor.withLock {
            while !isStopped, .now < deadline { monitor.wait(until: deadline) }
            return isStopped
        }
    }
}

// MARK: - Standstills

/// A time in which this process did not run.
public enum Standstill: Sendable, Hashable {
    /// The machine was suspended.
    case suspended(Duration)
    /// The process was stopped, or got no processor.
    case stopped(Duration)

    /// How long it lasted.
    public var duration: Duration {
        switch self {
        case .suspended(let duration), .stopped(let duration): duration
        }
    }
}

/// Detects that a thread did not run. Suspension of the machine shows in the difference of two clocks, one of
/// which keeps running; a stopped process shows in how late the thread sees an event.
public struct StandstillWatch: Sendable {
    private var suspended: Duration

    /// Allows for the time between the readings of the two clocks.
    private static let clockTolerance = Duration.milliseconds(500)
    /// A thread that sees an event this late did not run.
    private static let lateness = Duration.seconds(1)

    /// Creates a watch for the time from now on.
    public init(_ clock: some TimeSource) { suspended = clock.suspendedTime }

    /// Returns the standstill since the last look; nil if there was none.
    /// - Parameters:
    ///   - late: the time since the event that the thread sees now.
    ///   - usual: how late the thread may be in normal operation.
    public mutating func look(_ clock: some TimeSource, late: Duration, usual: Duration = .zero)
        -> Standstill?
    {
        let passed = clock.suspendedTime - suspended
        // The difference never decreases, except for a thread that is stopped between the two readings.
        if passed >= Self.clockTolerance {
            suspended += passed
            return .suspended(passed)
        }
        return late >= Self.lateness + usual ? .stopped(late) : nil
    }
}
