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
    /// Returns the wall-clock time at an instant, by the wall clock as it is now: it may have been set since, and the
    /// machine suspended.
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
