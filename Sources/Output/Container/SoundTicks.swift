/// Converts times of sound to a container's ticks, which increase strictly: what is for a time that has its sound is left
/// out.
struct SoundTicks {
    private let ticksPerSecond: Int64
    private var latest: Int64?

    init(ticksPerSecond: Int64) { self.ticksPerSecond = ticksPerSecond }

    /// The time of the next packet, in ticks; nil if it is not later than that of the last one.
    /// - Parameter time: since the first picture.
    mutating func ticks(_ time: Duration) -> Int64? {
        let ticks = count(time)
        if let latest, ticks <= latest { return nil }
        latest = ticks
        return ticks
    }

    /// A duration in ticks.
    func count(_ time: Duration) -> Int64 { time.ticks(perSecond: ticksPerSecond) }
}
