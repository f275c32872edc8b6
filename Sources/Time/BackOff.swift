/// Pauses between attempts: each is twice as long as the one before, up to a limit, until something works for a while.
public struct BackOff: Sendable {
    private let first: Duration
    private let longest: Duration
    private let steadiness: Duration
    private var pause: Duration

    /// - Parameters:
    ///   - first: the pause after the first failure.
    ///   - longest: no pause is longer.
    ///   - steadiness: what lasts so long counts as working; what fails sooner goes on with longer pauses.
    public init(
        first: Duration = .milliseconds(250), longest: Duration, steadiness: Duration = .seconds(1)
    ) {
        (self.first, self.longest, self.steadiness, pause) = (first, longest, steadiness, first)
    }

    /// How long to wait before the next attempt.
    public mutating func next() -> Duration {
        defer { pause = min(pause * 2, longest) }
        return pause
    }

    /// Notes for how long an attempt worked.
    /// - Returns: whether it was long enough; the next pause is the first one then.
    @discardableResult public mutating func noteSuccess(lasting duration: Duration) -> Bool {
        guard duration >= steadiness else { return false }
        pause = first
        return true
    }
}
