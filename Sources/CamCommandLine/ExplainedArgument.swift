import ArgumentParser
import CamPlatform

/// A command-line value whose error message states its requirement.
public protocol ExplainedArgument: ExpressibleByArgument {
    /// The requirement in words, with its limits.
    static var requirement: String { get }
}

extension ExplainedArgument {
    /// Reads a value, as the `transform` of an option or argument.
    public static func read(_ argument: String) throws -> Self {
        guard let value = Self(argument: argument) else { throw ValidationError(requirement) }
        return value
    }
}

extension ExplainedArgument where Self: CaseIterable & RawRepresentable, RawValue == String {
    /// The names of all cases.
    public static var requirement: String { "expected \(allCases.map(\.rawValue).alternatives)" }
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
public enum PlainValue {
    /// Reads a whole number within limits.
    public static func number(_ limits: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
        number(limits, limits: "\(limits.lowerBound) to \(limits.upperBound)")
    }

    /// Reads a whole number that is not below a limit.
    public static func number(from least: Int) -> @Sendable (String) throws -> Int {
        number(least...Int.max, limits: "\(least) or more")
    }

    /// Reads a text that is not empty.
    /// - Parameter requirement: the requirement for the text, in words.
    public static func text(_ requirement: String) -> @Sendable (String) throws -> String {
        { text in
            guard !text.isEmpty else { throw ValidationError(requirement) }
            return text
        }
    }

    private static func number(
        _ range: ClosedRange<Int>, limits: String
    ) -> @Sendable (String) throws -> Int {
        { text in
            guard let number = Int(text), range.contains(number) else {
                throw ValidationError("expected a whole number, \(limits)")
            }
            return number
        }
    }
}

// MARK: Times

/// A time: `90s`, `10m`, `1h`, `500ms`; a number without a unit is in seconds.
public struct TimeSpan: ExplainedArgument, CustomStringConvertible {
    public static let requirement = "expected a time such as 500ms, 90s, 10m or 24h, up to 27777h"

    /// Above 0, at most 1e8; 0 only for a position at the beginning.
    public let seconds: Double

    /// Reads a time within limits.
    /// - Parameter words: the limits, as in `1s to 1h`.
    public static func reader(
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
    public static func readPlace(_ argument: String) throws -> TimeSpan {
        let (number, unit) = argument.splitUnit()
        if number == 0, TimeSpan(argument: "1" + unit) != nil { return TimeSpan(seconds: 0) }
        return try read(argument)
    }

    /// A time of this many seconds.
    public init(seconds: Double) { self.seconds = seconds }

    /// The time in whole nanoseconds: at least one, unless `seconds` is 0.
    public var duration: Duration { seconds == 0 ? .zero : .nanoseconds(max(1, Int64(seconds * 1e9))) }

    /// Reads a time such as `90s`; nil if the text is not a time.
    public init?(argument: String) {
        let (number, unit) = argument.splitUnit()
        let factor: Double? =
            switch unit {
            case "", "s", "sec": 1
            case "ms": 1e-3
            case "m", "min": 60
            case "h": 3600
            default: nil
            }
        guard let number, let factor, number > 0, number * factor <= 1e8 else { return nil }
        seconds = number * factor
    }

    /// The time in the largest unit that gives a whole number.
    public var description: String {
        for (unit, name) in [(3600.0, "h"), (60, "m"), (1, "s")] where seconds >= unit {
            if (seconds / unit).rounded() * unit == seconds { return "\(Int(seconds / unit))\(name)" }
        }
        return "\(Int((seconds * 1000).rounded()))ms"
    }
}
