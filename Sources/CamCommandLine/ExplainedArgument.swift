import ArgumentParser

/// A value on the command line that explains what it must be if it is invalid.
public protocol ExplainedArgument: ExpressibleByArgument {
    /// In words, with the limits.
    static var requirement: String { get }
}

extension ExplainedArgument {
    /// Reads it; an option's or argument's `transform`.
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
