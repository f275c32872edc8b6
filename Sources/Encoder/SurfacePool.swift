import CamAcceleration
import CFFmpeg
import CVAAPI
import CamPictures

/// libavutil's pool of NV12 surfaces on a connection of ours.
enum SurfacePool {
    /// Creates a pool. It grows on demand: surfaces created in advance would delay the first picture, by 1 ms each on
    /// radeonsi.
    ///
    /// Calls the driver, so use it inside a connection's `call`.
    static func make(
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

    /// Takes a surface from a pool into a frame.
    static func take(
        from frames: UnsafeMutablePointer<AVBufferRef>, into frame: UnsafeMutablePointer<AVFrame>,
        on connection: VADisplayConnection
    ) throws(EncoderError) -> VASurfaceID {
        let result = av_hwframe_get_buffer(frames, frame, 0)
        guard result >= 0 else {
            throw EncoderError(
                .encodeFailed(
                    encoder: "VAAPI on \(connection.node)",
                    detail: "no surface: \(LibavMessage.reason(result))"))
        }
        return VASurfaceID(truncatingIfNeeded: UInt(bitPattern: frame.pointee.data.3))
    }
}
