import ArgumentParser

/// Readers of values that have no type of their own, for the `transform` of options and arguments.
public enum PlainValue {
    /// Reads a whole number within limits.
    public static func number(_ limits: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
        number(limits, limits: "\(limits.lowerBound) to \(limits.upperBound)")
    }

    /// Reads a whole number that is not below a limit.
    public static func number(from least: Int) -> @Sendable (String) throws -> Int {
        number(least...Int.max, limits: "\(least) or more")
    }

    /// Reads any text but an empty one.
    /// - Parameter requirement: what the text must be, in words.
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
