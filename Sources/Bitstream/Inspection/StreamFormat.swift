import CamPictures

/// The format of pictures in a sequence parameter set, in terms that both codecs share.
public struct StreamFormat: Equatable, Sendable {
    /// The profile's name, such as `High`.
    public let profile: String
    /// The level's name, such as `4.1`.
    public let level: String
    /// `Main` or `High` (H.265); `nil` in H.264.
    public let tier: String?
    /// Width of the pictures after cropping, in luma samples.
    public let width: Int
    /// Height of the pictures after cropping, in luma samples.
    public let height: Int
    /// Width before cropping.
    public let codedWidth: Int
    /// Height before cropping.
    public let codedHeight: Int
    /// The sample aspect ratio in the VUI, such as `16:11`; `nil` if not stated.
    public let sampleAspectRatio: String?
    /// The frame rate in the VUI; `nil` if not stated.
    public let frameRate: FrameRate?
    /// The chroma sampling.
    public let chromaFormat: ChromaFormat
    /// Bits of a luma sample.
    public let lumaBitDepth: Int
    /// Bits of a chroma sample.
    public let chromaBitDepth: Int
    /// Whether pictures may be fields.
    public let isInterlaced: Bool
    /// Whether each access unit is a field, and `frameRate` counts pairs of fields (H.265, E.3.1); false in
    /// H.264, where the records of pictures mark second fields.
    public let isFieldSequence: Bool
    /// Whether samples use the full range.
    public let isFullRange: Bool
    /// The id of the sequence parameter set.
    public let sequenceParameterSetID: Int

    /// Whether a decoder can decode pictures of both formats without a reset.
    func isCompatible(with other: StreamFormat) -> Bool {
        (width, height, chromaFormat, lumaBitDepth, chromaBitDepth)
            == (other.width, other.height, other.chromaFormat, other.lumaBitDepth, other.chromaBitDepth)
    }

    /// The chroma sampling (`chroma_format_idc`).
    public enum ChromaFormat: String, Sendable, Hashable, Encodable, CustomStringConvertible {
        case monochrome
        case yuv420 = "4:2:0"
        case yuv422 = "4:2:2"
        case yuv444 = "4:4:4"

        /// - Parameter idc: `chroma_format_idc`, 0 to 3.
        init(idc: Int) {
            self =
                switch idc {
                case 0: .monochrome
                case 1: .yuv420
                case 2: .yuv422
                default: .yuv444
                }
        }

        public var description: String { rawValue }
    }
}

extension StreamFormat {
    /// The format in an H.265 sequence parameter set.
    init(_ set: H265.SequenceParameterSet) {
        profile = set.profileName
        level = set.levelName
        tier = set.profile_tier_level.tierName
        width = set.width
        height = set.height
        codedWidth = set.pic_width_in_luma_samples
        codedHeight = set.pic_height_in_luma_samples
        sampleAspectRatio = set.vui_parameters?.sampleAspectRatio.map { "\($0.width):\($0.height)" }
        frameRate = set.frameRate
        chromaFormat = ChromaFormat(idc: set.chroma_format_idc)
        lumaBitDepth = set.bit_depth_luma_minus8 + 8
        chromaBitDepth = set.bit_depth_chroma_minus8 + 8
        isFieldSequence = set.vui_parameters?.field_seq_flag ?? false
        isInterlaced = isFieldSequence
        isFullRange = set.isFullRange
        sequenceParameterSetID = set.sps_seq_parameter_set_id
    }

    /// The format in an H.264 sequence parameter set.
    init(_ set: H264.SequenceParameterSet) {
        profile = set.profileName
        level = set.levelName
        tier = nil
        width = set.width
        height = set.height
        codedWidth = set.codedWidth
        codedHeight = set.codedHeight
        sampleAspectRatio = set.vui_parameters?.sampleAspectRatio.map { "\($0.width):\($0.height)" }
        frameRate = set.frameRate
        chromaFormat = ChromaFormat(idc: set.chroma_format_idc)
        lumaBitDepth = set.bit_depth_luma_minus8 + 8
        chromaBitDepth = set.bit_depth_chroma_minus8 + 8
        isFieldSequence = false
        isInterlaced = !set.frame_mbs_only_flag
        isFullRange = set.isFullRange
        sequenceParameterSetID = set.seq_parameter_set_id
    }
}
