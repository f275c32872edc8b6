import CamPlatform
import Glibc

/// The names of a recording's files: a pattern in which `strftime` inserts the time, and `%f` its milliseconds, and a
/// counter if that name is taken.
///
/// The counter precedes the extension: `out.h264`, `out-1.h264`, `out-2.h264`. It only rises, so that a deleted file's
/// name is not used again out of order.
package struct FileNamePattern: Sendable {
    /// The pattern as given.
    package let pattern: String
    private let isPattern: Bool
    private let isUTC: Bool
    /// The last file's name without its counter.
    private var lastName: String?
    private var counter = 0

    /// - Parameters:
    ///   - expandsTime: whether `strftime` expands `%`; otherwise the name is used as it is.
    ///   - isUTC: UTC instead of local time.
    package init(_ pattern: String, expandsTime: Bool, isUTC: Bool = false) {
        self.pattern = pattern
        isPattern = expandsTime && pattern.contains("%")
        self.isUTC = isUTC
    }

    /// The path up to the first folder or file whose name depends on the time: `/video` of `/video/%Y/%m.h264`; `.` if
    /// it is empty.
    package var folder: String {
        let parts = pattern.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let fixed = parts.prefix { !isPattern || !$0.contains("%") }
        return fixed.isEmpty ? "." : fixed == [""] ? "/" : fixed.joined(separator: "/")
    }

    /// Returns the next unused name.
    /// - Parameter time: when the file begins.
    package mutating func next(at time: WallTime) -> String {
        let name = expanded(at: time)
        if name == lastName {
            counter += 1
        } else {
            (lastName, counter) = (name, Self.highestCounter(of: name).map { $0 + 1 } ?? 0)
        }
        return Self.name(name, counter: counter)
    }

    /// Returns the name at a given time, without a counter, even if a file with that name exists.
    package func name(at time: WallTime) -> String { expanded(at: time) }

    /// Returns the name at a given time, with the counter of another pattern's name.
    func companion(at time: WallTime, counter: Int) -> String {
        Self.name(expanded(at: time), counter: counter)
    }

    /// The last name's counter; 0 if it has none.
    var lastCounter: Int { counter }

    /// Returns whether the pattern could have produced a name, with or without a counter.
    package func covers(_ name: String) -> Bool {
        let (stem, end) = Self.split(pattern)
        let globs = [Self.glob(stem, isPattern), Self.glob(end, isPattern)]
        return ["", "-[0-9]*"].contains { fnmatch(globs[0] + $0 + globs[1], name, FNM_PATHNAME) == 0 }
    }

    /// Returns whether `covers` recognizes the names that the pattern produces: not if the time expands to
    /// slashes (`%D`), nor if `..` follows it.
    package func areKnownAgain(at time: WallTime) -> Bool {
        let parts = pattern.split(separator: "/", omittingEmptySubsequences: false)
        let changing = parts.drop { !isPattern || !$0.contains("%") }
        return !changing.contains("..") && covers(expanded(at: time))
    }

    /// Returns the first conversion whose text cannot be part of a file's name, with that text: `%D` and `%x`
    /// expand to slashes, `%n` to a line feed. Nil if the pattern has no such conversion.
    package func misplacedConversion(at time: WallTime) -> (conversion: String, text: String)? {
        for conversion in conversions {
            let text = expanded(conversion, at: time)
            if text.unicodeScalars.contains(where: { $0 == "/" || $0.properties.generalCategory == .control })
            {
                return (conversion, text)
            }
        }
        return nil
    }

    /// The first conversion that neither `strftime` nor `%f` defines, such as `%Q`, or a `%` at the end: the C library
    /// would leave it in the name. Nil if the pattern has no such conversion.
    package var unknownConversion: String? {
        conversions.first { $0.count == 1 || !Self.letters.contains($0.suffix(1)) }
    }

    /// The conversions in their order: `%Y`, `%-d`, `%%`.
    private var conversions: [String] {
        guard isPattern else { return [] }
        var (conversions, rest) = ([String](), pattern[...])
        while let start = rest.firstIndex(of: "%") {
            let end = Self.endOfConversion(in: rest, from: start)
            conversions.append(String(rest[start..<end]))
            rest = rest[end...]
        }
        return conversions
    }

    /// Flags and a width may come between the `%` and its letter.
    private static func endOfConversion(in text: Substring, from start: String.Index) -> String.Index {
        let behind = text[start...].dropFirst().drop { flags.contains($0) }
        return behind.dropFirst().startIndex
    }

    private static let flags = "_-0^#123456789EO"

    /// The last characters of the conversions that glibc's strftime(3) has, and the one of `%f`.
    private static let letters = "%aAbBcCdDeFfgGhHIjklmMnpPrRsStTuUVwWxXyYzZ"

    /// Returns a pattern with the milliseconds in place of each `%f`, which strftime does not have.
    private static func withMilliseconds(_ pattern: String, of time: WallTime) -> String {
        guard pattern.contains("f") else { return pattern }
        let milliseconds = (time.nanoseconds - Int64(time.seconds) * 1_000_000_000) / 1_000_000
        let digits = String(String(1000 + milliseconds).dropFirst())
        var (text, rest) = ("", pattern[...])
        while let start = rest.firstIndex(of: "%") {
            let end = endOfConversion(in: rest, from: start)
            text += rest[..<start] + (rest[start..<end].last == "f" ? digits[...] : rest[start..<end])
            rest = rest[end...]
        }
        return text + rest
    }

    private func expanded(at time: WallTime) -> String {
        isPattern ? expanded(pattern, at: time) : pattern
    }

    private func expanded(_ pattern: String, at time: WallTime) -> String {
        let pattern = Self.withMilliseconds(pattern, of: time)
        var (moment, parts) = (time_t(time.seconds), tm())
        if isUTC { gmtime_r(&moment, &parts) } else { localtime_r(&moment, &parts) }
        // The space keeps the result from being empty: strftime returns 0 for
        // an empty and for a too long result.
        let capacity = Int(PATH_MAX)
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
            // glibc 2.41 declares strftime's buffer nonnull; earlier releases do not.
            guard let start = buffer.baseAddress else { return "" }
            let count = strftime(start, capacity, pattern + " ", &parts)
            return String(
                decoding: buffer.prefix(max(0, count - 1)).map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self
            )
        }
        return text.isEmpty ? pattern : text
    }

    private static func name(_ name: String, counter: Int) -> String {
        guard counter > 0 else { return name }
        let (stem, end) = split(name)
        return "\(stem)-\(counter)\(end)"
    }

    /// Splits a name before its extension: `a/out` and `.h264`.
    private static func split(_ name: String) -> (stem: String, end: String) {
        let file = name.lastIndex(of: "/").map { name.index(after: $0) } ?? name.startIndex
        guard let dot = name.lastIndex(of: "."), dot > file else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }

    /// Returns the highest counter among existing files: 0 for the name itself, nil if there are none.
    private static func highestCounter(of name: String) -> Int? {
        let (stem, end) = split(name)
        let slash = stem.lastIndex(of: "/")
        let folder = slash.map { $0 == stem.startIndex ? "/" : String(stem[..<$0]) } ?? "."
        let start = slash.map { String(stem[stem.index(after: $0)...]) } ?? stem
        return Folder.names(in: folder).compactMap { file -> Int? in
            guard file.hasPrefix(start), file.hasSuffix(end), file.count >= start.count + end.count else {
                return nil
            }
            let middle = file.dropFirst(start.count).dropLast(end.count)
            if middle.isEmpty { return 0 }
            guard middle.first == "-", let counter = Int(middle.dropFirst()),
                (0..<Int.max / 2).contains(counter)
            else { return nil }
            return counter
        }.max()
    }

    /// Returns a shell pattern (`fnmatch`) that matches everything a `strftime` pattern can expand to.
    private static func glob(_ text: String, _ isPattern: Bool) -> String {
        var (glob, rest) = ("", text[...])
        while let character = rest.popFirst() {
            if character == "%", isPattern {
                rest = rest.drop { flags.contains($0) }
                glob += rest.popFirst() == "%" ? "%" : "*"
            } else {
                glob += "*?[]\\".contains(character) ? "\\\(character)" : "\(character)"
            }
        }
        return glob
    }
}
