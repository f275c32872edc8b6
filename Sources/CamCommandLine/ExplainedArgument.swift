import ArgumentParser
import CamPlatform

/// A command-line value whose error message states its requirement.
package protocol ExplainedArgument: ExpressibleByArgument {
    /// The requirement in words, with its limits.
    static var requirement: String { get }
}

extension ExplainedArgument {
    /// Reads a value, as the `transform` of an option or argument.
    package static func read(_ argument: String) throws -> Self {
        guard let value = Self(argument: argument) else { throw ValidationError(requirement) }
        return value
    }
}

extension ExplainedArgument where Self: CaseIterable & RawRepresentable, RawValue == String {
    /// The names of all cases.
    package static var requirement: String { "expected \(allCases.map(\.rawValue).alternatives)" }
}

extension [String] {
    /// `a`, `a or b`, `a, b or c`.
    var alternatives: String {
        guard count > 1, let last else { return first ?? "" }
        return "\(dropLast().joined(separator: ", ")) or \(last)"
    }
}

// MARK: Numbers and texts

/// Readers of plain numbers and texts, for the `transform` of options and arguments.
package enum PlainValue {
    /// Reads a whole number within limits.
    package static func number(_ limits: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
        number(limits, limits: "\(limits.lowerBound) to \(limits.upperBound)")
    }

    /// Reads a whole number that is not below a limit.
    package static func number(from least: Int) -> @Sendable (String) throws -> Int {
        number(least...Int.max, limits: "\(least) or more")
    }

    /// Reads a text that is not empty.
    /// - Parameter requirement: the requirement for the text, in words.
    package static func text(_ requirement: String) -> @Sendable (String) throws -> String {
        { text in
            guard !text.isEmpty else { throw ValidationError(requirement) }
            return text
        }
    }

    private static func number(
        _ range: ClosedRange<Int>, limits: String
    ) -> @Sendable (String) throws -> Int {
        { text in
            guard let number = Int(text), text.first != "+", range.contains(number) else {
                throw ValidationError("expected a whole number, \(limits)")
            }
            return number
        }
    }
}

// MARK: Times

/// A time: `90s`, `500ms`, `1h30m`, `7days`, `00:10:00`; a number without a unit is in seconds.
package struct TimeSpan: ExplainedArgument, CustomStringConvertible {
    package static let requirement = "expected a time such as 500ms, 90s, 1h30m, 00:10:00 or 7d, up to 27777h"

    /// Above 0, at most 1e8; 0 only for a position at the beginning.
    package let seconds: Double

    /// Reads a time within limits.
    /// - Parameter words: the limits, as in `1s to 1h`.
    package static func reader(
        _ limits: ClosedRange<Double>, _ words: String
    ) -> @Sendable (String) throws -> TimeSpan {
        { argument in
            guard let time = TimeSpan(argument: argument), limits.contains(time.seconds) else {
                throw ValidationError("expected a time, \(words)")
            }
            return time
        }
    }

    /// Reads a position in a recording, which may be its beginning.
    package static func readPlace(_ argument: String) throws -> TimeSpan {
        seconds(of: argument) == 0 ? TimeSpan(seconds: 0) : try read(argument)
    }

    /// A time of this many seconds.
    package init(seconds: Double) { self.seconds = seconds }

    /// The time in whole nanoseconds: at least one, unless `seconds` is 0.
    package var duration: Duration { seconds == 0 ? .zero : .nanoseconds(max(1, Int64(seconds * 1e9))) }

    /// Reads a time such as `90s`; nil if the text is not a time.
    package init?(argument: String) {
        guard let seconds = Self.seconds(of: argument), seconds > 0, seconds <= 1e8 else { return nil }
        self.seconds = seconds
    }

    /// Returns the seconds of a time, which may be 0 or of any length; nil if the text is not a time.
    package static func seconds(of text: String) -> Double? {
        text.contains(":") ? clockSeconds(of: text) : unitSeconds(of: text)
    }

    /// `00:10:00`, `10:00`, `0:00:01.5`
    private static func clockSeconds(of text: String) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count) else { return nil }
        var total = 0.0
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            guard part.allSatisfy({ $0.isASCII && $0.isNumber || isLast && $0 == "." }),
                let number = Double(part), index == 0 || number < 60
            else { return nil }
            total = total * 60 + number
        }
        return total
    }

    /// `90`, `500ms`, `1h30m`: each unit is smaller than the one before it.
    private static func unitSeconds(of text: String) -> Double? {
        var (rest, total, last) = (text[...], 0.0, Double.infinity)
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let unit = rest.dropFirst(digits.count).prefix { $0.isLetter }
            rest = rest.dropFirst(digits.count + unit.count)
            guard let number = Double(digits), let factor = factor(of: unit), factor < last,
                !unit.isEmpty || digits.count == text.count
            else { return nil }
            total += number * factor
            last = factor
        }
        return text.isEmpty ? nil : total
    }

    private static func factor(of unit: Substring) -> Double? {
        switch unit {
        case "ms": 1e-3
        case "", "s", "sec", "secs", "second", "seconds": 1
        case "m", "min", "mins", "minute", "minutes": 60
        case "h", "hr", "hour", "hours": 3600
        case "d", "day", "days": 86400
        default: nil
        }
    }

    /// The time in the largest unit that gives a whole number.
    package var description: String {
        for (unit, name) in [(3600.0, "h"), (60, "m"), (1, "s")] where seconds >= unit {
            if (seconds / unit).rounded() * unit == seconds { return "\(Int(seconds / unit))\(name)" }
        }
        return "\(Int((seconds * 1000).rounded()))ms"
    }
}
