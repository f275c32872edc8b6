import CamPlatform

/// How many bytes were sent lately, to within a second.
struct RecentBytes {
    private let time: Duration
    private var seconds: [(start: Instant, count: Int)] = []

    /// - Parameter time: how far "lately" goes back.
    init(within time: Duration) { self.time = time }

    /// Notes that bytes were sent.
    mutating func note(_ count: Int, at now: Instant) {
        if let last = seconds.last, now - last.start < .seconds(1) {
            seconds[seconds.count - 1].count += count
        } else {
            seconds.removeAll { now - $0.start > time + .seconds(1) }
            seconds.append((now, count))
        }
    }

    /// The bytes of that time, and of at most a second before.
    func count(at now: Instant) -> Int {
        seconds.filter { now - $0.start <= time + .seconds(1) }.reduce(0) { $0 + $1.count }
    }
}
