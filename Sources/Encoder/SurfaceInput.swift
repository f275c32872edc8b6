import Acceleration
import CFFmpeg
import CVAAPI
import Pictures

/// Pictures for the VAAPI encoders of one render node: surfaces from libavutil's pool, written once by the CPU.
///
/// A surface that the driver can map is written in place. If it cannot (radeonsi 22.3 for a fresh pool
/// surface) or does so incorrectly, the picture is written into an image of the driver's and copied to the
/// surface.
final class SurfaceInput: EncoderInput {
    let connection: VADisplayConnection
    private let frames: UnsafeMutablePointer<AVBufferRef>
    private let picture: UnsafeMutablePointer<AVFrame>
    private let converter: PixelConverter
    private let size: PictureSize
    private let codedSize: PictureSize
    /// Whether the frame holds the picture.
    private var isFilled = false
    private let writer: SurfaceWriter
    /// A note on how pictures are uploaded, if not in the driver's preferred way.
    private(set) var note: EncoderNote?

    init(
        connection: VADisplayConnection, source: PictureFormat, size: PictureSize, color: ColorEncoding,
        upload: UploadMethod
    ) throws(EncoderError) {
        self.connection = connection
        self.size = size
        guard let codedSize = PictureSize((size.width + 15) & ~15, (size.height + 15) & ~15) else {
            throw EncoderError(.unsupported("pictures of \(size) are too large"))
        }
        self.codedSize = codedSize
        writer = SurfaceWriter(connection: connection, size: codedSize, method: upload)
        do {
            converter = try PixelConverter(source: source, layout: .nv12, color: color)
        } catch {
            throw EncoderError(error)
        }
        frames = try connection.encodingCall {
            Self.makePool(on: connection, size: codedSize)
        }.get()
        guard let frame = av_frame_alloc() else {
            var frames: UnsafeMutablePointer<AVBufferRef>? = frames
            av_buffer_unref(&frames)
            throw EncoderError(.openFailed(encoder: connection.node, detail: "out of memory"))
        }
        picture = frame
    }

    /// How pictures are uploaded from now on: put, or as requested.
    var upload: UploadMethod { writer.method == .put ? .put : .auto }

    /// Writes a picture, reads it back, and switches to the other method if it differs.
    func check(isChangeable: Bool) throws(EncoderError) {
        let result = try connection.encodingCall { [self] () -> Result<EncoderNote?, EncoderError> in
            do throws(EncoderError) {
                let surface = try takeSurface()
                defer { release() }
                return .success(
                    try UploadCheck.settle(
                        writer, on: surface, size: codedSize, isChangeable: isChangeable,
                        node: connection.node)
                )
            } catch { return .failure(error) }
        }
        note = try result.get()
    }

    deinit {
        let (picture, frames) = (picture, frames)
        try? connection.call {
            var (frame, pool) = (Optional(picture), Optional(frames))
            av_frame_free(&frame)
            av_buffer_unref(&pool)
        }
    }

    /// Sets the encoder up to take these surfaces.
    func attach(to context: UnsafeMutablePointer<AVCodecContext>) {
        context.pointee.pix_fmt = AV_PIX_FMT_VAAPI
        context.pointee.hw_frames_ctx = av_buffer_ref(frames)
    }

    func frame(for buffer: borrowing PixelBuffer) throws(EncoderError) -> UnsafeMutablePointer<AVFrame> {
        if isFilled { return picture }
        let surface = try takeSurface()
        do throws(EncoderError) {
            try write(buffer, to: surface)
        } catch {
            release()
            throw error
        }
        picture.pointee.width = Int32(size.width)
        picture.pointee.height = Int32(size.height)
        isFilled = true
        return picture
    }

    /// Takes a surface from the pool into the frame.
    private func takeSurface() throws(EncoderError) -> VASurfaceID {
        let result = av_hwframe_get_buffer(frames, picture, 0)
        guard result >= 0 else { throw failed("no surface", LibavMessage.reason(result)) }
        return VASurfaceID(truncatingIfNeeded: UInt(bitPattern: picture.pointee.data.3))
    }

    func release() {
        av_frame_unref(picture)
        isFilled = false
    }

    private func write(_ buffer: borrowing PixelBuffer, to surface: VASurfaceID) throws(EncoderError) {
        try writer.write(to: surface) { planes throws(EncoderError) in
            let target = PictureSurface(
                size: buffer.format.size, paddedSize: codedSize, luma: planes.luma,
                chroma: .interleaved(planes.chroma))
            do throws(ConversionError) {
                try converter.convert(buffer, into: target)
            } catch {
                throw EncoderError(error)
            }
        }
    }

    private func failed(_ what: String, _ detail: String) -> EncoderError {
        EncoderError(.encodeFailed(encoder: "VAAPI on \(connection.node)", detail: "\(what): \(detail)"))
    }

    /// Creates a pool of NV12 surfaces on our own display. It grows on demand: surfaces created in advance
    /// would delay the first picture, by 1 ms each on radeonsi.
    private static func makePool(
        on connection: VADisplayConnection, size: PictureSize
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
        result = av_hwframe_ctx_init(pool)
        guard result >= 0 else {
            av_buffer_unref(&frames)
            return failed(result)
        }
        return .success(pool)
    }
}
