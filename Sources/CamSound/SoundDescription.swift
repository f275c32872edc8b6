/// The sound of a stream, as a container declares it.
public struct SoundDescription: Sendable, Hashable {
    /// How it is coded.
    public let codec: SoundCodec
    /// How it is sampled.
    public let format: SoundFormat
    /// Bits a second, as requested; nil if the codec decides.
    public let bitRate: Int?
    /// The decoder configuration, as containers store it: AudioSpecificConfig, OpusHead or STREAMINFO.
    public let configuration: [UInt8]
    /// Frames in a packet.
    public let packetFrames: Int

    /// Creates a description.
    public init(
        codec: SoundCodec, format: SoundFormat, bitRate: Int? = nil, configuration: [UInt8],
        packetFrames: Int
    ) {
        (self.codec, self.format, self.bitRate, self.configuration) = (codec, format, bitRate, configuration)
        self.packetFrames = packetFrames
    }
}

// MARK: - Sampling

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

// MARK: - Descriptions within packets

/// The ADTS header before each AAC packet in a stream without a global header, such as a transport stream
/// (ISO/IEC 13818-7, 6.2).
public struct ADTSHeader {
    /// How the sound is sampled.
    public let format: SoundFormat
    /// The decoder configuration, as containers store it: AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1).
    public let configuration: [UInt8]
    /// The length of the header.
    public let byteCount: Int

    /// The sample rate for each index (ISO/IEC 14496-3, table 1.18).
    private static let rates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// Parses a packet's header; nil if there is no header, or if it does not state the channels.
    public init?(_ packet: UnsafeRawBufferPointer) {
        guard packet.count > 7, packet[0] == 0xFF, packet[1] & 0xF6 == 0xF0 else { return nil }
        byteCount = packet[1] & 1 == 0 ? 9 : 7
        let (objectType, rateIndex) = (packet[2] >> 6 + 1, packet[2] >> 2 & 15)
        let channels = (packet[2] & 1) << 2 | packet[3] >> 6
        guard Int(rateIndex) < Self.rates.count, channels > 0, packet.count > byteCount else { return nil }
        format = SoundFormat(rate: Self.rates[Int(rateIndex)], channels: channels == 7 ? 8 : Int(channels))
        configuration = [objectType << 3 | rateIndex >> 1, (rateIndex & 1) << 7 | channels << 3]
    }
}
