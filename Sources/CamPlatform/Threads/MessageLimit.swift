/// Limits a message that may repeat for weeks: it passes at once, then after ten seconds, then after twice as long
/// each time, up to an hour. Counts the messages held back.
public struct MessageLimit: Sendable {
    private var backOff = Self.pauses
    private var interval = Duration.zero
    private var lastTold: Instant?
    private var heldBack = 0

    private static let pauses = BackOff(first: .seconds(10), longest: .seconds(3600))

    /// Creates a limit without history.
    public init() {}

    /// Returns whether a message may be reported now.
    /// - Returns: the number held back since the last report, or nil if this one is held back too.
    public mutating func admit(at now: Instant) -> Int? {
        let distance = lastTold.map { now - $0 }
        if let distance, distance < interval {
            heldBack += 1
            return nil
        }
        // A long silence shows that the problem had ended.
        if let distance, distance >= interval * 2 { backOff = Self.pauses }
        (interval, lastTold) = (backOff.next(), now)
        defer { heldBack = 0 }
        return heldBack
    }
}
