import Glibc

/// A moment on CLOCK_MONOTONIC, the clock of V4L2's timestamps, which never goes back and stands still while the
/// machine is suspended.
///
/// Arithmetic never traps: a moment beyond what can be represented becomes the first or the last one. Drivers and
/// files may claim any time.
public struct Instant: Comparable, Hashable, Sendable {
    /// Nanoseconds since an arbitrary start, usually the machine's.
    public let nanoseconds: Int64

    /// A moment so many nanoseconds after the clock's start.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The clock's start.
    public static var start: Instant { Instant(nanoseconds: 0) }

    /// The first moment that can be represented.
    public static var distantPast: Instant { Instant(nanoseconds: .min) }

    /// The last moment that can be represented.
    public static var distantFuture: Instant { Instant(nanoseconds: .max) }

    /// The current moment.
    public static var now: Instant { Instant(nanoseconds: nanoseconds(CLOCK_MONOTONIC)) }

    /// The moment that is later by a duration.
    public static func + (moment: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: moment.nanoseconds.addingSaturated(duration.inNanoseconds))
    }

    /// The moment that is earlier by a duration.
    public static func - (moment: Instant, duration: Duration) -> Instant { moment + (.zero - duration) }

    /// Makes the moment later by a duration.
    public static func += (moment: inout Instant, duration: Duration) { moment = moment + duration }

    /// The time from one moment to another; exact, however far apart they are.
    public static func - (later: Instant, earlier: Instant) -> Duration {
        .nanoseconds(later.nanoseconds) - .nanoseconds(earlier.nanoseconds)
    }

    public static func < (one: Instant, other: Instant) -> Bool { one.nanoseconds < other.nanoseconds }

    /// What a clock of the system shows.
    static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
