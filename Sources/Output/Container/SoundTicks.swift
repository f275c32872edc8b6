/// Converts times of sound to a container's ticks, which increase strictly.
struct SoundTicks {
    private let ticksPerSecond: Int64
    private var latest: Int64?

    init(ticksPerSecond: Int64) { self.ticksPerSecond = ticksPerSecond }

    /// The time of the next packet, in ticks.
    /// - Parameter time: since the first picture.
    mutating func ticks(_ time: Duration) -> Int64 {
        let wished = count(time)
        let ticks = max(wished, latest.map { $0 + 1 } ?? wished)
        latest = ticks
        return ticks
    }

    /// A duration in ticks, rounded to the nearest; up to 36 years.
    func count(_ time: Duration) -> Int64 {
        let nanoseconds = max(-1 << 60, min(time.inNanoseconds, 1 << 60))
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds * ticksPerSecond + (rest * ticksPerSecond + 500_000_000) / 1_000_000_000
    }
}
