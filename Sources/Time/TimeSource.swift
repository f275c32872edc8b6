import Glibc

/// Tells the time. Tests put a clock of their own in place of the system's.
public protocol TimeSource: Sendable {
    /// The current moment.
    var now: Instant { get }

    /// The current moment on the calendar.
    var wallTime: WallTime { get }

    /// How long the machine has been suspended since it started, about.
    var suspendedTime: Duration { get }
}

/// The system's clocks.
public struct SystemTime: TimeSource {
    /// The system's clocks.
    public init() {}

    public var now: Instant { .now }

    public var wallTime: WallTime { .now }

    /// `now` stands still while the machine is suspended, and CLOCK_BOOTTIME goes on.
    public var suspendedTime: Duration {
        .nanoseconds(Instant.nanoseconds(CLOCK_BOOTTIME)) - .nanoseconds(Instant.now.nanoseconds)
    }
}
