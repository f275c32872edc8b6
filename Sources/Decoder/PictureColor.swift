import CFFmpeg

/// What samples of luma and chroma mean, as far as showing them needs it.
public struct PictureColor: Sendable, Equatable {
    /// From luma and chroma to red, green and blue.
    public enum Matrix: Sendable {
        case bt601, bt709, bt2020
    }

    /// Whether samples use 0 to 255, not 16 to 235 (luma).
    public let isFullRange: Bool
    /// The matrix that the stream names; where it names none, BT.601 up to 576 lines and BT.709 above, as
    /// players have it.
    public let matrix: Matrix
}

extension PictureColor {
    init(_ frame: AVFrame) {
        isFullRange =
            frame.color_range == AVCOL_RANGE_JPEG || frame.format == AV_PIX_FMT_YUVJ420P.rawValue
        matrix =
            switch frame.colorspace {
            case AVCOL_SPC_BT709: .bt709
            case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: .bt2020
            case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: .bt601
            default: frame.height > 576 ? .bt709 : .bt601
            }
    }
}
