import CamPlatform

/// Notices where the times of sound restart, as where recordings were joined.
struct SoundRestart {
    /// Whether they have.
    private(set) var hasRestarted = false
    private var latest: Duration?

    /// Times step back by less where they are rounded.
    static let largestStepBack = Duration.milliseconds(100)

    /// Whether there was sound.
    var hasBegun: Bool { latest != nil }

    /// Notes when the next packet begins.
    mutating func note(_ time: Duration) {
        if let latest, time < latest - Self.largestStepBack { hasRestarted = true }
        latest = max(latest ?? time, time)
    }
}
