import CV4L2
import CamPictures

extension ColorEncoding {
    /// The driver's color information, with V4L2's own rules for the values that it leaves open
    /// (`V4L2_MAP_YCBCR_ENC_DEFAULT`, `V4L2_MAP_QUANTIZATION_DEFAULT` in `<linux/videodev2.h>`).
    ///
    /// JPEG pictures are full-range BT.601 whatever the driver says, as in JFIF. RGB pictures are converted,
    /// so the result describes the converted picture.
    init(
        colorspace: UInt32, ycbcrEncoding: UInt32, quantization: UInt32, transferFunction: UInt32,
        pixelFormat: PixelFormat, height: Int
    ) {
        let isFullRange = quantization == V4L2_QUANTIZATION_FULL_RANGE.rawValue
        let (primaries, usualTransfer) = Self.primaries(of: colorspace)
        let transfer = Self.transfer(transferFunction) ?? usualTransfer
        switch pixelFormat.arrangement {
        case .jpeg:
            self.init(range: .full, matrix: .bt601, primaries: primaries, transfer: transfer)
        case .rgb:
            self.init(
                range: .limited, matrix: height >= 720 ? .bt709 : .bt601, primaries: primaries,
                transfer: transfer)
        default:
            let isJPEGColorspace = colorspace == V4L2_COLORSPACE_JPEG.rawValue
            let isDefault = quantization == V4L2_QUANTIZATION_DEFAULT.rawValue
            self.init(
                range: isFullRange || (isDefault && isJPEGColorspace) ? .full : .limited,
                matrix: Self.matrix(ycbcrEncoding, colorspace: colorspace), primaries: primaries,
                transfer: transfer)
        }
    }

    private static func matrix(_ encoding: UInt32, colorspace: UInt32) -> Matrix {
        switch encoding {
        case V4L2_YCBCR_ENC_601.rawValue, V4L2_YCBCR_ENC_XV601.rawValue, V4L2_YCBCR_ENC_SYCC.rawValue: .bt601
        case V4L2_YCBCR_ENC_709.rawValue, V4L2_YCBCR_ENC_XV709.rawValue: .bt709
        case V4L2_YCBCR_ENC_BT2020.rawValue, V4L2_YCBCR_ENC_BT2020_CONST_LUM.rawValue: .bt2020
        default:
            switch colorspace {
            case V4L2_COLORSPACE_REC709.rawValue, V4L2_COLORSPACE_DCI_P3.rawValue,
                V4L2_COLORSPACE_SMPTE240M.rawValue:
                .bt709
            case V4L2_COLORSPACE_BT2020.rawValue: .bt2020
            default: .bt601
            }
        }
    }

    /// The code point of H.273 table 3; nil if the driver leaves it open.
    private static func transfer(_ function: UInt32) -> UInt8? {
        switch function {
        case V4L2_XFER_FUNC_709.rawValue: 1
        case V4L2_XFER_FUNC_SRGB.rawValue: 13
        case V4L2_XFER_FUNC_SMPTE240M.rawValue: 7
        case V4L2_XFER_FUNC_NONE.rawValue: 8
        case V4L2_XFER_FUNC_SMPTE2084.rawValue: 16
        default: nil
        }
    }

    /// Code points of H.273 tables 2 and 3.
    private static func primaries(of colorspace: UInt32) -> (primaries: UInt8, transfer: UInt8) {
        switch colorspace {
        case V4L2_COLORSPACE_SMPTE170M.rawValue: (6, 6)
        case V4L2_COLORSPACE_SMPTE240M.rawValue: (7, 7)
        case V4L2_COLORSPACE_REC709.rawValue: (1, 1)
        case V4L2_COLORSPACE_470_SYSTEM_M.rawValue: (4, 4)
        case V4L2_COLORSPACE_470_SYSTEM_BG.rawValue: (5, 5)
        case V4L2_COLORSPACE_BT2020.rawValue: (9, 14)
        // sRGB and JPEG, and drivers that report nothing: webcams.
        default: (1, 13)
        }
    }
}
