import Time

/// Notices where the times of sound restart, as where recordings were joined.
struct SoundRestart {
    /// Whether they have.
    private(set) var hasRestarted = false
    private var latest: Duration?

    /// A demuxer's times step back by less where packets are reordered or rounded.
    private static let largestStepBack = Duration.milliseconds(100)

    /// Notes when the next packet begins.
    mutating func note(_ time: Duration) {
        if let latest, time < latest - Self.largestStepBack { hasRestarted = true }
        latest = max(latest ?? time, time)
    }
}
