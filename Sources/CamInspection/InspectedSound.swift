import CamPlatform

/// What a container has in sound.
public struct InspectedSound: Sendable, Equatable {
    /// How it is coded, such as `AAC`.
    public let codec: String
    /// Samples a second of each channel.
    public let rate: Int
    /// How many channels there are.
    public let channels: Int
    /// The packets so far, and their bytes.
    public private(set) var (packetCount, byteCount) = (0, 0)
    /// From the first packet's beginning to the last one's end, since the first picture; nil before the first.
    public private(set) var times: ClosedRange<Duration>?
    /// Whether the latest packet's duration is known.
    private var hasDuration = false
    /// How much is missing between packets.
    public private(set) var gaps = Duration.zero

    /// Less is a container's rounding.
    private static let shortestGap = Duration.milliseconds(3)

    /// Creates a summary of no packets yet.
    public init(codec: String, rate: Int, channels: Int) {
        (self.codec, self.rate, self.channels) = (codec, rate, channels)
    }

    /// Notes the next packet.
    /// - Parameter start: when it begins, since the first picture.
    public mutating func note(at start: Duration, duration: Duration, byteCount: Int) {
        packetCount += 1
        self.byteCount += byteCount
        let end = start + duration
        defer { hasDuration = duration > .zero }
        guard let times else { return self.times = start...max(start, end) }
        if hasDuration, start - times.upperBound >= Self.shortestGap { gaps += start - times.upperBound }
        self.times = min(times.lowerBound, start)...max(times.upperBound, end)
    }

    /// Bits a second; nil if it has no duration.
    public var bitRate: Double? {
        guard let times, times.lowerBound < times.upperBound else { return nil }
        return Double(byteCount) * 8 / (times.upperBound - times.lowerBound).inSeconds
    }

    /// In a line.
    var text: String {
        guard let times else {
            return "\(codec), \(rate) Hz, \(Quantity.count(channels, "channel")), no packets"
        }
        let missing = gaps > .zero ? "; \(seconds(gaps)) s are missing in it" : ""
        return "\(codec), \(rate) Hz, \(Quantity.count(channels, "channel")), "
            + "\(bitRate.map(Quantity.bitRate) ?? "no duration"), "
            + "from \(seconds(times.lowerBound)) to \(seconds(times.upperBound)) s\(missing)"
    }

    private func seconds(_ time: Duration) -> String { Quantity.decimal(time.inSeconds, 3) }
}
