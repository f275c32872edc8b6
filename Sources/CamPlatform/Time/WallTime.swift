import Glibc

/// A wall-clock time, which users and programs may change: for names, ages and metadata.
///
/// Arithmetic saturates, as `Instant`'s does.
public struct WallTime: Comparable, Hashable, Sendable {
    /// Nanoseconds since the beginning of 1970, without leap seconds.
    public let nanoseconds: Int64

    /// Creates a time this many nanoseconds after the beginning of 1970.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates a time this many seconds after the beginning of 1970.
    public init(seconds: Int) { self.init(nanoseconds: Duration.seconds(seconds).inNanoseconds) }

    /// The current time.
    public static var now: WallTime { WallTime(nanoseconds: Instant.nanoseconds(CLOCK_REALTIME)) }

    /// Whole seconds since the beginning of 1970, as the C library counts them.
    public var seconds: Int {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int(rest < 0 ? seconds - 1 : seconds)
    }

    /// Returns the time later by a duration.
    public static func + (moment: WallTime, duration: Duration) -> WallTime {
        WallTime(nanoseconds: moment.nanoseconds.addingSaturated(duration.inNanoseconds))
    }

    /// Returns the time earlier by a duration.
    public static func - (moment: WallTime, duration: Duration) -> WallTime { moment + (.zero - duration) }

    /// Advances the time by a duration.
    public static func += (moment: inout WallTime, duration: Duration) { moment = moment + duration }

    /// Returns the duration from one time to another; exact, however far apart they are.
    public static func - (later: WallTime, earlier: WallTime) -> Duration {
        .nanoseconds(later.nanoseconds) - .nanoseconds(earlier.nanoseconds)
    }

    public static func < (one: WallTime, other: WallTime) -> Bool { one.nanoseconds < other.nanoseconds }
}
