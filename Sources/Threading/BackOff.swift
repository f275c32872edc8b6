/// Pauses between attempts, each twice as long as the one before, from a quarter of a second to some seconds.
public struct BackOff: Sendable {
    private var pause = Self.first
    private let longest: Int64

    private static let first: Int64 = 250_000_000
    /// Nanoseconds after which a connection counts as one that works: a peer that accepts connections and ends them at
    /// once is not called without a pause.
    public static let steadyTime: Int64 = 1_000_000_000

    /// - Parameter longest: seconds.
    public init(longest: Int64) { self.longest = longest * 1_000_000_000 }

    /// How long to wait now, in nanoseconds.
    public mutating func next() -> Int64 {
        defer { pause = min(2 * pause, longest) }
        return pause
    }

    /// It went well: the next pause is a short one.
    public mutating func reset() { pause = Self.first }
}
