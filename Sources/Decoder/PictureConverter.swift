import CFFmpeg
import CScale
import CamAcceleration
import CamPictures

/// Converts pictures to another format and size with libswscale. A picture with that format and size is
/// returned unchanged.
///
/// Use it in one thread at a time.
public final class PictureConverter {
    /// The format of converted pictures.
    public let layout: PictureLayout
    /// The size of converted pictures; nil to keep the size of each picture.
    private let size: (width: Int, height: Int)?
    private var scaler: UnsafeMutableRawPointer?
    private let memory = PicturePool()

    /// - Parameter size: width and height in luma samples, at least 1; nil keeps the size of each picture.
    public init(to layout: PictureLayout, size: (width: Int, height: Int)? = nil) {
        self.layout = layout
        self.size = size
    }

    deinit { cscale_free(scaler) }

    /// Converts a picture. The range and the matrix of luma and chroma do not change.
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
    /// The number of the matrix in CScale.
    fileprivate var number: cscale_matrix {
        switch self {
        case .bt709: CSCALE_BT709
        case .bt2020: CSCALE_BT2020
        default: CSCALE_BT601
        }
    }
}

// MARK: Memory for pictures

/// Memory for pictures that camrec creates. Each buffer is reused when its picture is destroyed, and lives
/// until the last picture is gone.
///
/// Use it in one thread at a time; its pictures may be destroyed in any.
final class PicturePool {
    private var pool: OpaquePointer?
    private var byteCount: Int32 = 0

    /// Rows begin at multiples of this number of bytes, for vector code.
    private static let alignment: Int32 = 64

    deinit { av_buffer_pool_uninit(&pool) }

    /// Creates a picture with uninitialized content.
    func makePicture(_ format: AVPixelFormat, width: Int, height: Int) throws(DecoderError) -> DecodedPicture
    {
        guard let frame = av_frame_alloc() else { throw DecoderError(.outOfMemory) }
        let picture = DecodedPicture(taking: frame)
        let (width, height) = (Int32(clamping: width), Int32(clamping: height))
        let needed = av_image_get_buffer_size(format, width, height, Self.alignment)
        guard needed > 0 else { throw DecoderError(.outOfMemory) }
        // Vector code reads and writes a little beyond the last row.
        let (size, overflow) = needed.addingReportingOverflow(Self.alignment)
        guard !overflow else { throw DecoderError(.outOfMemory) }
        if size != byteCount {
            av_buffer_pool_uninit(&pool)
            pool = av_buffer_pool_init(Int(size), nil)
            byteCount = size
        }
        guard let pool, let buffer = av_buffer_pool_get(pool) else { throw DecoderError(.outOfMemory) }
        frame.pointee.buf.0 = buffer
        frame.pointee.format = format.rawValue
        (frame.pointee.width, frame.pointee.height) = (width, height)
        guard frame.layPlanes(in: buffer.pointee.data, alignment: Self.alignment) else {
            throw DecoderError(.outOfMemory)
        }
        return picture
    }

    /// Copies a picture of the GPU into memory; returns nil if the driver cannot.
    func download(
        _ picture: borrowing DecodedPicture, through connection: VADisplayConnection
    ) throws(DecoderError) -> DecodedPicture? {
        let source = picture.frame
        guard let context = source.pointee.hw_frames_ctx else { return nil }
        let format = UnsafeMutableRawPointer(context.pointee.data)
            .assumingMemoryBound(to: AVHWFramesContext.self).pointee.sw_format
        let copy = try makePicture(format, width: picture.width, height: picture.height)
        // The frames must stay alive if the driver hangs.
        guard let held = av_frame_clone(source), let heldCopy = av_frame_clone(copy.frame) else {
            throw DecoderError(.outOfMemory)
        }
        let result = try connection.decodingCall {
            var (held, heldCopy) = (Optional(held), Optional(heldCopy))
            let result = av_hwframe_transfer_data(heldCopy, held, 0)
            av_frame_free(&held)
            av_frame_free(&heldCopy)
            return result
        }
        guard result >= 0, av_frame_copy_props(copy.frame, source) >= 0 else { return nil }
        return copy
    }
}

extension DecodedPicture {
    /// Whether the samples are in the GPU's memory.
    var isOnGPU: Bool { frame.pointee.hw_frames_ctx != nil }
}

extension UnsafeMutablePointer<AVFrame> {
    /// Sets planes and strides for the frame's format and size.
    fileprivate func layPlanes(in memory: UnsafeMutablePointer<UInt8>, alignment: Int32) -> Bool {
        withUnsafeMutablePointer(to: &pointee.data) { data in
            withUnsafeMutablePointer(to: &pointee.linesize) { strides in
                data.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 8) { data in
                    strides.withMemoryRebound(to: Int32.self, capacity: 8) { strides in
                        av_image_fill_arrays(
                            data, strides, memory, AVPixelFormat(pointee.format), pointee.width,
                            pointee.height, alignment) >= 0
                    }
                }
            }
        }
    }
}
