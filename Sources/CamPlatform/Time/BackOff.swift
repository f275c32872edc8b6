/// Pauses between attempts: each is twice as long as the previous one, up to a limit, until an attempt works
/// for a while.
public struct BackOff: Sendable {
    private let first: Duration
    private let longest: Duration
    private let steadiness: Duration
    private var pause: Duration

    /// - Parameters:
    ///   - first: the pause after the first failure.
    ///   - longest: the longest pause.
    ///   - steadiness: how long an attempt must last to count as working; shorter ones keep lengthening the pauses.
    public init(
        first: Duration = .milliseconds(250), longest: Duration, steadiness: Duration = .seconds(1)
    ) {
        (self.first, self.longest, self.steadiness, pause) = (first, longest, steadiness, first)
    }

    /// Returns how long to wait before the next attempt.
    public mutating func next() -> Duration {
        defer { pause = min(pause * 2, longest) }
        return pause
    }

    /// Notes how long an attempt worked.
    /// - Returns: whether that was long enough to start again with the first pause.
    @discardableResult public mutating func noteSuccess(lasting duration: Duration) -> Bool {
        guard duration >= steadiness else { return false }
        pause = first
        return true
    }
}

// MARK: - Repeated messages

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
