import Acceleration
import CFFmpeg
import CVAAPI
import Capture

/// Pictures for the VAAPI encoders of one render node: surfaces from libavutil's pool, written once by the CPU.
///
/// A surface that the driver lets us map is written where it lies. Where it does not (radeonsi 22.3 for a
/// fresh pool surface) the picture is written into an image of the driver's and uploaded.
final class SurfaceInput: EncoderInput {
    let connection: VADisplayConnection
    private let frames: UnsafeMutablePointer<AVBufferRef>
    private let picture: UnsafeMutablePointer<AVFrame>
    private let converter: PixelConverter
    private let size: PictureSize
    private let codedSize: PictureSize
    /// The frame has the picture.
    private var isFilled = false
    /// The image for uploads, made when the first surface could not be mapped.
    private var uploadImage: VAImage?

    /// - Parameter surfaceCount: surfaces in the pool: what the encoders hold back and one to fill.
    init(
        connection: VADisplayConnection, source: PictureFormat, size: PictureSize, color: ColorEncoding,
        surfaceCount: Int
    ) throws(EncoderError) {
        self.connection = connection
        self.size = size
        guard let codedSize = PictureSize((size.width + 15) & ~15, (size.height + 15) & ~15) else {
            throw EncoderError(.unsupported("pictures of \(size) are too large"))
        }
        self.codedSize = codedSize
        do {
            converter = try PixelConverter(source: source, layout: .nv12, color: color)
        } catch {
            throw EncoderError(error)
        }
        frames = try connection.call {
            Self.makePool(on: connection, size: codedSize, count: surfaceCount)
        }.get()
        guard let frame = av_frame_alloc() else {
            var frames: UnsafeMutablePointer<AVBufferRef>? = frames
            av_buffer_unref(&frames)
            throw EncoderError(.openFailed(encoder: connection.node, detail: "out of memory"))
        }
        picture = frame
    }

    deinit {
        if let uploadImage { vaDestroyImage(connection.display, uploadImage.image_id) }
        var frame: UnsafeMutablePointer<AVFrame>? = picture
        av_frame_free(&frame)
        var frames: UnsafeMutablePointer<AVBufferRef>? = frames
        av_buffer_unref(&frames)
    }

    /// Sets the encoder up to take these surfaces.
    func attach(to context: UnsafeMutablePointer<AVCodecContext>) {
        context.pointee.pix_fmt = AV_PIX_FMT_VAAPI
        context.pointee.hw_frames_ctx = av_buffer_ref(frames)
    }

    func frame(for buffer: borrowing PixelBuffer) throws(EncoderError) -> UnsafeMutablePointer<AVFrame> {
        if isFilled { return picture }
        let result = av_hwframe_get_buffer(frames, picture, 0)
        guard result >= 0 else { throw failed("no free surface", LibavMessage.reason(result)) }
        do throws(EncoderError) {
            try write(buffer, to: VASurfaceID(truncatingIfNeeded: UInt(bitPattern: picture.pointee.data.3)))
        } catch {
            release()
            throw error
        }
        picture.pointee.width = Int32(size.width)
        picture.pointee.height = Int32(size.height)
        isFilled = true
        return picture
    }

    func release() {
        av_frame_unref(picture)
        isFilled = false
    }

    private func write(_ buffer: borrowing PixelBuffer, to surface: VASurfaceID) throws(EncoderError) {
        if let uploadImage {
            try upload(buffer, through: uploadImage, to: surface)
        } else if let image = derivedImage(of: surface) {
            defer { vaDestroyImage(connection.display, image.image_id) }
            try fill(image, from: buffer)
        } else {
            let image = try makeUploadImage()
            uploadImage = image
            try upload(buffer, through: image, to: surface)
        }
    }

    private func upload(
        _ buffer: borrowing PixelBuffer, through image: VAImage, to surface: VASurfaceID
    ) throws(EncoderError) {
        try fill(image, from: buffer)
        let (width, height) = (UInt32(codedSize.width), UInt32(codedSize.height))
        let status = vaPutImage(
            connection.display, surface, image.image_id, 0, 0, width, height, 0, 0, width, height)
        guard status == VA_STATUS_SUCCESS else { throw failed("upload", status) }
    }

    /// The surface itself as an image; nil where the driver cannot give it as NV12.
    private func derivedImage(of surface: VASurfaceID) -> VAImage? {
        var image = VAImage()
        guard vaDeriveImage(connection.display, surface, &image) == VA_STATUS_SUCCESS else { return nil }
        if holdsPicture(image) { return image }
        vaDestroyImage(connection.display, image.image_id)
        return nil
    }

    private func makeUploadImage() throws(EncoderError) -> VAImage {
        var format = VAImageFormat()
        format.fourcc = UInt32(CVAAPI_FOURCC_NV12)
        format.byte_order = UInt32(VA_LSB_FIRST)
        format.bits_per_pixel = 12
        var image = VAImage()
        let status = vaCreateImage(
            connection.display, &format, Int32(codedSize.width), Int32(codedSize.height), &image)
        guard status == VA_STATUS_SUCCESS else { throw failed("image", status) }
        guard holdsPicture(image) else {
            vaDestroyImage(connection.display, image.image_id)
            throw failed("image", "its layout does not hold the picture")
        }
        return image
    }

    /// Pitches and offsets are the driver's word: they must lie within its own data size.
    private func holdsPicture(_ image: VAImage) -> Bool {
        guard image.format.fourcc == UInt32(CVAAPI_FOURCC_NV12), image.num_planes == 2 else { return false }
        let (luma, chroma) = (Int(image.pitches.0), Int(image.pitches.1))
        return luma >= codedSize.width && chroma >= codedSize.width
            && Int(image.offsets.0) + luma * codedSize.height <= Int(image.data_size)
            && Int(image.offsets.1) + chroma * codedSize.height / 2 <= Int(image.data_size)
            && Int(image.offsets.0) + luma * codedSize.height <= Int(image.offsets.1)
    }

    private func fill(_ image: VAImage, from buffer: borrowing PixelBuffer) throws(EncoderError) {
        var mapped: UnsafeMutableRawPointer?
        let status = vaMapBuffer(connection.display, image.buf, &mapped)
        guard status == VA_STATUS_SUCCESS, let mapped else { throw failed("mapping a surface", status) }
        defer { vaUnmapBuffer(connection.display, image.buf) }
        let bytes = mapped.assumingMemoryBound(to: UInt8.self)
        let surface = PictureSurface(
            size: buffer.format.size, paddedSize: codedSize,
            luma: PictureSurface.Plane(bytes + Int(image.offsets.0), stride: Int(image.pitches.0)),
            chroma: .interleaved(
                PictureSurface.Plane(bytes + Int(image.offsets.1), stride: Int(image.pitches.1))))
        do {
            try converter.convert(buffer, into: surface)
        } catch {
            throw EncoderError(error)
        }
    }

    private func failed(_ what: String, _ status: VAStatus) -> EncoderError {
        failed(what, String(cString: vaErrorStr(status)))
    }

    private func failed(_ what: String, _ detail: String) -> EncoderError {
        EncoderError(.encodeFailed(encoder: "VAAPI on \(connection.node)", detail: "\(what): \(detail)"))
    }

    /// A pool of NV12 surfaces on our own display.
    private static func makePool(
        on connection: VADisplayConnection, size: PictureSize, count: Int
    ) -> Result<UnsafeMutablePointer<AVBufferRef>, EncoderError> {
        cffmpeg_keep_log()
        func failed(_ result: Int32) -> Result<UnsafeMutablePointer<AVBufferRef>, EncoderError> {
            .failure(
                EncoderError(
                    .openFailed(encoder: "VAAPI on \(connection.node)", detail: LibavMessage.reason(result))))
        }
        var (device, result) = connection.makeDevice()
        defer { av_buffer_unref(&device) }
        guard let device else { return failed(result) }
        var frames = av_hwframe_ctx_alloc(device)
        guard let pool = frames else { return failed(Int32(CFFMPEG_OUT_OF_MEMORY)) }
        let context = UnsafeMutableRawPointer(pool.pointee.data)
            .assumingMemoryBound(to: AVHWFramesContext.self)
        context.pointee.format = AV_PIX_FMT_VAAPI
        context.pointee.sw_format = AV_PIX_FMT_NV12
        context.pointee.width = Int32(size.width)
        context.pointee.height = Int32(size.height)
        context.pointee.initial_pool_size = Int32(count)
        result = av_hwframe_ctx_init(pool)
        guard result >= 0 else {
            av_buffer_unref(&frames)
            return failed(result)
        }
        return .success(pool)
    }
}
