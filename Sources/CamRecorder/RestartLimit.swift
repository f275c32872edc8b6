import CamPlatform

/// Allows at most three restarts per minute, at least a second apart.
struct RestartLimit {
    private static let most = 3
    private static let period = Duration.seconds(60)
    private static let distance = Duration.seconds(1)

    private var times: [Instant] = []

    mutating func allowsAnother(at time: Instant) -> Bool {
        times.removeAll { time - $0 >= Self.period }
        return times.count < Self.most
    }

    /// Returns the earliest time for the next restart, or nil if that is now.
    func pause(at time: Instant) -> Instant? {
        guard let last = times.last, time - last < Self.distance else { return nil }
        return last + Self.distance
    }

    mutating func count(at time: Instant) { times.append(time) }
}
