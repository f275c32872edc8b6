import Glibc

/// A point in time on CLOCK_MONOTONIC, the clock of V4L2's timestamps, which never goes back and stops while the
/// machine is suspended.
///
/// Arithmetic saturates instead of trapping, because drivers and files may claim any time.
public struct Instant: Comparable, Hashable, Sendable {
    /// Nanoseconds since an arbitrary start, usually the machine's boot.
    public let nanoseconds: Int64

    /// Creates an instant this many nanoseconds after the clock's start.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The clock's start.
    public static var start: Instant { Instant(nanoseconds: 0) }

    /// The earliest representable instant.
    public static var distantPast: Instant { Instant(nanoseconds: .min) }

    /// The latest representable instant.
    public static var distantFuture: Instant { Instant(nanoseconds: .max) }

    /// The current instant.
    public static var now: Instant { Instant(nanoseconds: nanoseconds(CLOCK_MONOTONIC)) }

    /// Returns the instant later by a duration.
    public static func + (moment: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: moment.nanoseconds.addingSaturated(duration.inNanoseconds))
    }

    /// Returns the instant earlier by a duration.
    public static func - (moment: Instant, duration: Duration) -> Instant { moment + (.zero - duration) }

    /// Advances the instant by a duration.
    public static func += (moment: inout Instant, duration: Duration) { moment = moment + duration }

    /// Returns the time from one instant to another; exact, however far apart they are.
    public static func - (later: Instant, earlier: Instant) -> Duration {
        .nanoseconds(later.nanoseconds) - .nanoseconds(earlier.nanoseconds)
    }

    public static func < (one: Instant, other: Instant) -> Bool { one.nanoseconds < other.nanoseconds }

    /// Returns the time of a system clock.
    static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension Duration {
    /// Whole nanoseconds, rounded toward zero; the nearest that an `Int64` can hold.
    public var inNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

    /// Whole milliseconds, rounded toward zero; the nearest that an `Int64` can hold.
    public var inMilliseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000_000) }

    /// Seconds, exact to the nanosecond.
    public var inSeconds: Double { Double(inNanoseconds) / 1e9 }

    /// The absolute value.
    public var magnitude: Duration { self < .zero ? .zero - self : self }
}

extension Int64 {
    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, isOverflown) = addingReportingOverflow(other)
        return isOverflown ? (other < 0 ? .min : .max) : sum
    }
}
