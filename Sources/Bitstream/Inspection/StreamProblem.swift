/// Something odd in a stream, and its first position.
public struct StreamProblem: Equatable, Sendable {
    /// What is odd, in words.
    public let message: String
    /// Its first position in the stream, in bytes.
    public let offset: Int
    /// How often it occurred.
    public internal(set) var count: Int
}

extension StreamProblem: CustomStringConvertible {
    /// One line: the offset, the problem, and how often it occurred.
    public var description: String {
        "offset \(offset): \(message)" + (count > 1 ? " (\(count) times)" : "")
    }
}

/// The problems of a stream, each kind once, in order of their first occurrence.
struct StreamProblemList: Sendable {
    /// Kinds that are kept; any others that a malicious stream causes are only counted.
    static let limit = 50

    private(set) var problems: [StreamProblem] = []
    private(set) var omittedCount = 0

    mutating func note(_ message: String, at offset: Int) {
        if let index = problems.firstIndex(where: { $0.message == message }) {
            problems[index].count += 1
        } else if problems.count < Self.limit {
            problems.append(StreamProblem(message: message, offset: offset, count: 1))
        } else {
            omittedCount += 1
        }
    }
}
