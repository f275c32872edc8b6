import CFFmpeg
import CamPictures

extension ColorEncoding {
    /// The encoding that is needed to show a picture: if the stream does not state a matrix, BT.601 up to 576
    /// lines and BT.709 above, as players assume.
    init(_ frame: AVFrame) {
        let isFull = frame.color_range == AVCOL_RANGE_JPEG || frame.format == AV_PIX_FMT_YUVJ420P.rawValue
        let matrix: Matrix =
            switch frame.colorspace {
            case AVCOL_SPC_BT709: .bt709
            case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: .bt2020
            case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: .bt601
            default: frame.height > 576 ? .bt709 : .bt601
            }
        self.init(
            range: isFull ? .full : .limited, matrix: matrix,
            primaries: UInt8(truncatingIfNeeded: frame.color_primaries.rawValue),
            transfer: UInt8(truncatingIfNeeded: frame.color_trc.rawValue))
    }
}
