import CamPlatform

/// When what a live stream sends is due, by how long its pictures take to arrive: the quickest of the last seconds counts,
/// whatever delays the others, and however the sender's clock drifts. The caller reads the clock.
struct LiveClock {
    /// Arrivals minus times in the stream: the smallest since `since`, and in the period before.
    private var (current, previous): (Duration?, Duration?) = (nil, nil)
    private var since = Instant.start

    private static let period = Duration.seconds(3)

    /// Notes that a picture has arrived.
    /// - Parameter time: its time in the stream.
    mutating func note(_ time: Duration, arrival: Instant) {
        let delay = (arrival - .start) - time
        if current == nil || arrival - since >= Self.period {
            (previous, current, since) = (current, delay, arrival)
        } else {
            current = min(current ?? delay, delay)
        }
    }

    /// When a picture with a time arrives at the earliest; nil before the first.
    func arrival(of time: Duration) -> Instant? {
        guard let current else { return nil }
        return .start + min(current, previous ?? current) + time
    }
}
