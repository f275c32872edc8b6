import Time

/// At most three restarts a minute, with a second between them.
struct RestartLimit {
    private static let most = 3
    private static let period = Duration.seconds(60)
    private static let distance = Duration.seconds(1)

    private var times: [Instant] = []

    mutating func allowsAnother(at time: Instant) -> Bool {
        times.removeAll { time - $0 >= Self.period }
        return times.count < Self.most
    }

    /// When the next restart may be, if that is later than now.
    func pause(at time: Instant) -> Instant? {
        guard let last = times.last, time - last < Self.distance else { return nil }
        return last + Self.distance
    }

    mutating func count(at time: Instant) { times.append(time) }
}
