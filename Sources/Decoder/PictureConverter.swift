import Acceleration
import CFFmpeg
import CScale
import Pictures

/// Converts pictures to another format and size, with libswscale. A picture that already has both is returned
/// unchanged.
///
/// Use it in one thread at a time.
public final class PictureConverter {
    /// The format of converted pictures.
    public let layout: PictureLayout
    /// The size of converted pictures; nil to keep each picture's own.
    private let size: (width: Int, height: Int)?
    private var scaler: OpaquePointer?
    private let memory = PicturePool()

    /// - Parameter size: width and height in luma samples, at least 1; nil keeps each picture's own.
    public init(to layout: PictureLayout, size: (width: Int, height: Int)? = nil) {
        self.layout = layout
        self.size = size
    }

    deinit { sws_freeContext(scaler) }

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
        let isSameSize = (picture.width, picture.height) == (converted.width, converted.height)
        let flags = (isSameSize ? SWS_BILINEAR : SWS_BICUBIC) | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT
        scaler = sws_getCachedContext(
            scaler, source.pointee.width, source.pointee.height, AVPixelFormat(source.pointee.format),
            target.pointee.width, target.pointee.height, layout.format, flags, nil, nil, nil)
        guard let scaler else {
            throw DecoderError(.conversionFailed(detail: LibavMessage.reason(Int32(CFFMPEG_INVALID_DATA))))
        }
        let color = picture.color
        let (isFull, coefficients) = (
            color.isFullRange ? Int32(1) : 0, sws_getCoefficients(color.matrix.number)
        )
        // RGB has the full range; other formats keep the stream's.
        sws_setColorspaceDetails(
            scaler, coefficients, isFull, coefficients, layout.isRGB ? 1 : isFull, 0, 1 << 16, 1 << 16)
        if layout.isRGB {
            (target.pointee.colorspace, target.pointee.color_range) = (AVCOL_SPC_RGB, AVCOL_RANGE_JPEG)
        }
        let result = cscale_scale(scaler, source, target)
        guard result >= 0 else {
            throw DecoderError(.conversionFailed(detail: LibavMessage.reason(result)))
        }
    }
}

extension ColorEncoding.Matrix {
    /// libswscale's number for it.
    fileprivate var number: Int32 {
        switch self {
        case .bt709: SWS_CS_ITU709
        case .bt2020: SWS_CS_BT2020
        default: SWS_CS_ITU601
        }
    }
}
