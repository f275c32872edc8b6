import CamAcceleration
import CFFmpeg
import CScale
import CamPictures

/// Converts pictures to another format and size, with libswscale. A picture that already has both is returned
/// unchanged.
///
/// Use it in one thread at a time.
public final class PictureConverter {
    /// The format of converted pictures.
    public let layout: PictureLayout
    /// The size of converted pictures; nil to keep each picture's own.
    private let size: (width: Int, height: Int)?
    private var scaler: UnsafeMutableRawPointer?
    private let memory = PicturePool()

    /// - Parameter size: width and height in luma samples, at least 1; nil keeps each picture's own.
    public init(to layout: PictureLayout, size: (width: Int, height: Int)? = nil) {
        self.layout = layout
        self.size = size
    }

    deinit { cscale_free(scaler) }

    /// Converts a picture; the range and the matrix of luma and chroma stay the same.
    public func convert(_ picture: consuming DecodedPicture) throws(DecoderError) -> DecodedPicture {
        let width = size?.width ?? picture.width
        let height = size?.height ?? picture.height
        if picture.layout == layout, (picture.width, picture.height) == (width, height) { return picture }
        let converted = try memory.makePicture(layout.format, width: width, height: height)
        try scale(picture, into: converted)
        return converted
    }

    private func scale(
        _ picture: borrowing DecodedPicture, into converted: borrowing DecodedPicture
    ) throws(DecoderError) {
        let (source, target) = (picture.frame, converted.frame)
        guard av_frame_copy_props(target, source) >= 0 else { throw DecoderError(.outOfMemory) }
        cffmpeg_clear_log()
        if layout.isRGB {
            (target.pointee.colorspace, target.pointee.color_range) = (AVCOL_SPC_RGB, AVCOL_RANGE_JPEG)
        }
        let color = picture.color
        let result = cscale_scale(
            &scaler, source, target, color.matrix.number, color.isFullRange, layout.isRGB)
        guard result >= 0 else {
            throw DecoderError(.conversionFailed(detail: LibavMessage.reason(result)))
        }
    }
}

extension ColorEncoding.Matrix {
    /// CScale's number for it.
    fileprivate var number: cscale_matrix {
        switch self {
        case .bt709: CSCALE_BT709
        case .bt2020: CSCALE_BT2020
        default: CSCALE_BT601
        }
    }
}
