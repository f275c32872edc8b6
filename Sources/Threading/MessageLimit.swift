/// Lets a message through that may come again and again for weeks: at once, then after ten seconds, and each
/// time twice as long after the last one, up to an hour. What was held back is counted.
public struct MessageLimit: Sendable {
    private var interval: Int64 = 0
    private var lastTold: Int64 = .min / 2
    private var heldBack = 0

    private static let first: Int64 = 10_000_000_000
    private static let longest: Int64 = 3_600_000_000_000

    /// Nothing was reported yet.
    public init() {}

    /// Asks whether a message may be told now.
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: how many were suppressed since the last one; nil if this one should be, too.
    public mutating func admit(at now: Int64) -> Int? {
        let distance = now - lastTold
        guard distance >= interval else {
            heldBack += 1
            return nil
        }
        // A long silence shows that it was over.
        interval = distance >= 2 * interval ? Self.first : min(2 * interval, Self.longest)
        lastTold = now
        defer { heldBack = 0 }
        return heldBack
    }
}
