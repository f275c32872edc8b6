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
    func duration(of frames: Int) -> Duration {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: rate)
        return .seconds(seconds) + .nanoseconds(Int64(rest) * 1_000_000_000 / Int64(rate))
    }

    /// How many frames a duration has, rounded to the nearest.
    func frames(in duration: Duration) -> Int { Int((duration.inSeconds * Double(rate)).rounded()) }
}
