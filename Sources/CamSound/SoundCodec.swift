import CFFmpeg

/// How sound is coded.
public enum SoundCodec: String, Sendable, CaseIterable {
    /// AAC (ISO/IEC 14496-3), low complexity: what every player knows.
    case aac
    /// Opus (RFC 6716): better at the same rate.
    case opus
    /// FLAC (RFC 9639): without loss.
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

    /// Bits a second that speech and everyday noises need; nil if the codec decides.
    public func usualBitRate(channels: Int) -> Int? {
        switch self {
        case .aac: 64_000 * channels
        case .opus: 48_000 * channels
        case .flac: nil
        }
    }

    /// The most bits a second that its encoder takes: libopus's wrapper refuses more, and AAC has no use for them
    /// (ISO/IEC 14496-3, 4.5.3.3: 6144 bits for each channel of 1024 samples).
    public func highestBitRate(channels: Int) -> Int {
        switch self {
        case .aac: 288_000 * channels
        case .opus: 256_000 * channels
        case .flac: .max
        }
    }

    /// Samples a second that it is coded with: Opus knows no others (RFC 7845, 5.1), and microphones have these.
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

    /// The samples that its encoder takes.
    var sampleFormat: AVSampleFormat {
        switch self {
        case .aac: AV_SAMPLE_FMT_FLTP
        case .opus: AV_SAMPLE_FMT_FLT
        case .flac: AV_SAMPLE_FMT_S16
        }
    }

    /// Frames in a packet, where its encoder leaves the choice: few, so that sound is not late.
    var frameSize: Int32? { self == .flac ? 2048 : nil }
}
