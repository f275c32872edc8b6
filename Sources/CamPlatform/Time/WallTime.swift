import Glibc

/// A wall-clock time, for names, ages and metadata. Users and programs may set the clock.
///
/// Arithmetic saturates, as with `Instant`.
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

// MARK: - ISO 8601

/// Times as text, for containers, reports and other programs.
extension WallTime {
    /// The time in UTC with microseconds, as `2026-11-25T23:40:44.123456Z` (ISO 8601, RFC 3339).
    public var iso8601: String {
        var (moment, parts) = (time_t(seconds), tm())
        gmtime_r(&moment, &parts)
        // Whole seconds before 1970 may have more nanoseconds than 64 bits hold.
        let rest = nanoseconds % 1_000_000_000
        let microseconds = (rest < 0 ? rest + 1_000_000_000 : rest) / 1000
        return Self.digits(Int(parts.tm_year) + 1900, 4) + "-" + Self.digits(Int(parts.tm_mon) + 1, 2) + "-"
            + Self.digits(Int(parts.tm_mday), 2) + "T" + Self.digits(Int(parts.tm_hour), 2) + ":"
            + Self.digits(Int(parts.tm_min), 2) + ":" + Self.digits(Int(parts.tm_sec), 2) + "."
            + Self.digits(Int(microseconds), 6) + "Z"
    }

    /// Parses a time in that format, with any number of decimals. Nil for
    /// other text and for years before 1970.
    public init?(iso8601 text: String) {
        var rest = Array(text.utf8)[...]
        guard text.utf8.count <= 40, rest.popLast() == UInt8(ascii: "Z") else { return nil }
        let fields = rest.split(omittingEmptySubsequences: false) { "-T:.".utf8.contains($0) }
        let separators = rest.filter { "-T:.".utf8.contains($0) }
        guard [6, 7].contains(fields.count), separators.starts(with: "--T::".utf8),
            separators.dropFirst(5).allSatisfy({ $0 == UInt8(ascii: ".") }),
            zip(fields, [4, 2, 2, 2, 2, 2]).allSatisfy({ $0.count == $1 })
        else { return nil }
        let decimals = fields.count == 7 ? Array(fields[6]) : [UInt8(ascii: "0")]
        guard let year = Self.number(fields[0]), let month = Self.number(fields[1]),
            let day = Self.number(fields[2]), let hour = Self.number(fields[3]),
            let minute = Self.number(fields[4]), let second = Self.number(fields[5]),
            let fraction = Self.number((decimals + Array("000000000".utf8)).prefix(9)), !decimals.isEmpty,
            Self.number(decimals.dropFirst(9)) != nil || decimals.count <= 9,
            year >= 1970, (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
        self = WallTime(seconds: timegm(&parts)) + .nanoseconds(fraction)
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        let isNumber = !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber ? Int(String(decoding: digits, as: UTF8.self)) : nil
    }
}
