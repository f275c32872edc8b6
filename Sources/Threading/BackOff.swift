/// Pauses between attempts, each twice as long as the one before, up to a limit.
public struct BackOff: Sendable {
    private var pause: Int64
    private let first: Int64
    private let longest: Int64

    /// Nanoseconds after which a connection counts as one that works: a peer that accepts connections and ends them at
    /// once is not called without a pause.
    public static let steadyTime: Int64 = 1_000_000_000

    /// - Parameters:
    ///   - first: the first pause.
    ///   - longest: the longest pause.
    public init(first: Duration = .milliseconds(250), longest: Duration) {
        (self.first, self.longest) = (Self.nanoseconds(first), Self.nanoseconds(longest))
        pause = self.first
    }

    /// How long to wait now, in nanoseconds.
    public mutating func next() -> Int64 {
        defer { pause = min(2 * pause, longest) }
        return pause
    }

    /// It went well: the next pause is a short one.
    public mutating func reset() { pause = first }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
