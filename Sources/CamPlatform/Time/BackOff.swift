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
