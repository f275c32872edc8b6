import Time

/// Lets a message through that may come again and again for weeks: at once, then after ten seconds, and each
/// time twice as long after the last one, up to an hour. What was held back is counted.
public struct MessageLimit: Sendable {
    private var backOff = Self.pauses
    private var interval = Duration.zero
    private var lastTold: Instant?
    private var heldBack = 0

    private static let pauses = BackOff(first: .seconds(10), longest: .seconds(3600))

    /// Nothing was reported yet.
    public init() {}

    /// Asks whether a message may be told now.
    /// - Returns: how many were held back since the last one; nil where this one is to be, too.
    public mutating func admit(at now: Instant) -> Int? {
        let distance = lastTold.map { now - $0 }
        if let distance, distance < interval {
            heldBack += 1
            return nil
        }
        // A long silence shows that it was over.
        if let distance, distance >= interval * 2 { backOff = Self.pauses }
        (interval, lastTold) = (backOff.next(), now)
        defer { heldBack = 0 }
        return heldBack
    }
}
