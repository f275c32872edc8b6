/// How sound is sampled.
public struct SoundFormat: Sendable, Hashable, CustomStringConvertible {
    /// Samples a second of each channel.
    public var rate: Int
    /// How many channels a frame has.
    public var channels: Int

    /// Creates a format.
    public init(rate: Int, channels: Int) { (self.rate, self.channels) = (rate, channels) }

    /// Such as `48000 Hz, mono`.
    public var description: String {
        let layout =
            switch channels {
            case 1: "mono"
            case 2: "stereo"
            default: "\(channels) channels"
            }
        return "\(rate) Hz, \(layout)"
    }

    /// How long frames last.
    public func duration(of frames: Int) -> Duration {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: rate)
        return .seconds(seconds) + .nanoseconds(Int64(rest) * 1_000_000_000 / Int64(rate))
    }

    /// How many frames a duration has, rounded to the nearest.
    func frames(in duration: Duration) -> Int {
        let (seconds, rest) = duration.inNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int(seconds) * rate
            + Int((rest * Int64(rate) + (rest < 0 ? -500_000_000 : 500_000_000)) / 1_000_000_000)
    }
}
