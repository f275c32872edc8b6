/// What is wrong with a settings file. `description` is one line: the place, the thing, the next step.
public struct SettingsProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file's path, as given.
    public let path: String
    /// Counted from 1; nil for the file as a whole.
    public let line: Int?
    /// What is wrong.
    public let reason: String

    /// Creates a problem of a line.
    public init(path: String, line: Int?, _ reason: String) {
        self.path = path
        self.line = line
        self.reason = reason
    }

    /// `FILE:LINE: reason`
    public var description: String {
        "\(path):\(line.map { "\($0):" } ?? "") \(reason)"
    }
}
