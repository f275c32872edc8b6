import CFFmpeg

/// How sound is coded.
public enum SoundCodec: String, Sendable, CaseIterable {
    /// AAC (ISO/IEC 14496-3), low complexity: every player supports it.
    case aac
    /// Opus (RFC 6716): better at the same rate.
    case opus
    /// FLAC (RFC 9639): lossless.
    case flac

    /// The codec with libavcodec's identifier; nil for any other.
    public init?(_ identifier: AVCodecID) {
        guard let codec = Self.allCases.first(where: { $0.identifier == identifier }) else { return nil }
        self = codec
    }

    /// What people call it.
    public var name: String {
        switch self {
        case .aac: "AAC"
        case .opus: "Opus"
        case .flac: "FLAC"
        }
    }

    /// The bits a second that suffice for speech and everyday noises; nil if the codec decides.
    public func usualBitRate(channels: Int) -> Int? {
        switch self {
        case .aac: 64_000 * channels
        case .opus: 48_000 * channels
        case .flac: nil
        }
    }

    /// The most bits a second that the encoder accepts: libavcodec's libopus wrapper refuses more, and AAC
    /// cannot use more (ISO/IEC 14496-3, 4.5.3.3: 6144 bits for each channel of 1024 samples).
    public func highestBitRate(channels: Int) -> Int {
        switch self {
        case .aac: 288_000 * channels
        case .opus: 256_000 * channels
        case .flac: .max
        }
    }

    /// The sample rate of all coded sound: Opus always uses it (RFC 7845, 5.1), and microphones support it.
    public static let rate = 48_000

    /// libavcodec's name of the encoder.
    var encoderName: String {
        switch self {
        case .aac: "aac"
        case .opus: "libopus"
        case .flac: "flac"
        }
    }

    /// libavcodec's identifier of the codec.
    public var identifier: AVCodecID {
        switch self {
        case .aac: AV_CODEC_ID_AAC
        case .opus: AV_CODEC_ID_OPUS
        case .flac: AV_CODEC_ID_FLAC
        }
    }

    /// The sample format that the encoder accepts.
    var sampleFormat: AVSampleFormat {
        switch self {
        case .aac: AV_SAMPLE_FMT_FLTP
        case .opus: AV_SAMPLE_FMT_FLT
        case .flac: AV_SAMPLE_FMT_S16
        }
    }

    /// The frames in a packet, if the encoder leaves the choice: few, for low latency.
    var frameSize: Int32? { self == .flac ? 2048 : nil }
}

// MARK: - Frames in a packet

extension SoundCodec {
    /// The number of frames in a coded packet; nil if only a decoder can tell.
    /// - Parameter configuration: the decoder configuration from the container.
    public func frameCount(of packet: RawSpan, configuration: [UInt8]) -> Int? {
        switch self {
        case .aac: Self.aacFrameCount(configuration)
        case .opus: Self.opusFrameCount(packet)
        case .flac: Self.flacBlockSize(configuration)
        }
    }

    /// The frame length from AudioSpecificConfig, for the basic AAC object types (ISO/IEC 14496-3, 1.6.2.1
    /// and 4.4.1). Other types have packets of twice the length, or of several lengths.
    private static func aacFrameCount(_ configuration: [UInt8]) -> Int? {
        guard configuration.count >= 2 else { return nil }
        let bits = Int(configuration[0]) << 8 | Int(configuration[1])
        let (kind, rateIndex, isShort) = (bits >> 11, bits >> 7 & 15, bits >> 2 & 1 == 1)
        guard (1...4).contains(kind), rateIndex != 15 else { return nil }
        return isShort ? 960 : 1024
    }

    /// From the packet's first two bytes (RFC 6716, 3.1 and 3.2), at 48 kHz.
    private static func opusFrameCount(_ packet: RawSpan) -> Int? {
        guard packet.byteCount > 0 else { return nil }
        let first = packet.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
        let size = Int(first >> 3 & 3)
        let length =
            switch first >> 3 {
            case 0..<12: [480, 960, 1920, 2880][size]
            case 12..<16: [480, 960][size & 1]
            default: 120 << size
            }
        switch first & 3 {
        case 0: return length
        case 1, 2: return 2 * length
        default:
            guard packet.byteCount > 1 else { return nil }
            return Int(packet.unsafeLoad(fromByteOffset: 1, as: UInt8.self) & 63) * length
        }
    }

    /// The block size, if all blocks except the last have the same size (RFC 9639, 8.2).
    private static func flacBlockSize(_ configuration: [UInt8]) -> Int? {
        guard configuration.count >= 4, configuration[..<2] == configuration[2..<4] else { return nil }
        return Int(configuration[0]) << 8 | Int(configuration[1])
    }
}
