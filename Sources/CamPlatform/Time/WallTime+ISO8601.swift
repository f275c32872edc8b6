import Glibc

/// Times as text, as containers, reports and programs exchange them.
extension WallTime {
    /// The time in UTC with microseconds, as `2026-11-25T23:40:44.123456Z` (ISO 8601, RFC 3339).
    public var iso8601: String {
        var (moment, parts) = (time_t(seconds), tm())
        gmtime_r(&moment, &parts)
        let microseconds = (nanoseconds - Int64(seconds) * 1_000_000_000) / 1000
        return Self.digits(Int(parts.tm_year) + 1900, 4) + "-" + Self.digits(Int(parts.tm_mon) + 1, 2) + "-"
            + Self.digits(Int(parts.tm_mday), 2) + "T" + Self.digits(Int(parts.tm_hour), 2) + ":"
            + Self.digits(Int(parts.tm_min), 2) + ":" + Self.digits(Int(parts.tm_sec), 2) + "."
            + Self.digits(Int(microseconds), 6) + "Z"
    }

    /// Reads such a time, with any number of decimals. Nil for anything else, and for years before 1970.
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
