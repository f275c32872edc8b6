import CamAcceleration
import CFFmpeg
import CVAAPI
import CamPictures

/// Has a GPU convert packed 4:2:2 to the NV12 that its encoder takes, in surfaces of its own.
///
/// Used by one thread at a time, at last by that which encodes.
final class SharedConversion {
    let connection: VADisplayConnection
    private let processor: cvaapi_processor
    /// Surfaces of the pictures' size, which the driver fills up to the coded size as it does those of a camera.
    private let frames: UnsafeMutablePointer<AVBufferRef>

    /// Starts the GPU's video processing.
    /// - Returns: nil if its driver does not convert the format.
    init?(of format: PictureFormat, on connection: VADisplayConnection) throws(EncoderError) {
        let size = format.size
        guard let (width, height) = size.unsigned, let fourcc = format.pixelFormat.fourcc else { return nil }
        let opened = try connection.encodingCall {
            () -> (cvaapi_processor, UnsafeMutablePointer<AVBufferRef>)? in
            var processor = cvaapi_processor()
            guard connection.entryPoints(of: VAProfileNone).contains(VAEntrypointVideoProc),
                cvaapi_processes(connection.display, fourcc),
                cvaapi_processor_open(connection.display, width, height, &processor) == VA_STATUS_SUCCESS
            else { return nil }
            if case .success(let frames) = SurfacePool.make(on: connection, size: size) {
                return (processor, frames)
            }
            cvaapi_processor_close(&processor)
            return nil
        }
        guard let opened else { return nil }
        (self.connection, processor, frames) = (connection, opened.0, opened.1)
    }

    /// Whether the pictures that a driver converts have been compared with camrec's own: Intel's, on the emulated GPU.
    /// - Parameter driver: its own name.
    static func isProven(_ driver: String) -> Bool { driver.contains("iHD") }

    deinit {
        let (processor, frames) = (processor, frames)
        try? connection.call {
            var (processor, frames) = (processor, Optional(frames))
            cvaapi_processor_close(&processor)
            av_buffer_unref(&frames)
        }
    }

    /// Has a surface converted into another, which the frame then holds; the driver keeps the order with what uses it later.
    /// - Returns: the other surface, or what the driver says.
    func convert(
        _ surface: SharedSurface, into frame: UnsafeMutablePointer<AVFrame>
    ) throws(EncoderError) -> Result<VASurfaceID, SharedSurface.Refusal> {
        let target = try SurfacePool.take(from: frames, into: frame, on: connection)
        let status = withUnsafePointer(to: processor) { cvaapi_process($0, surface.id, target) }
        if status == VA_STATUS_SUCCESS { return .success(target) }
        av_frame_unref(frame)
        return .failure(SharedSurface.Refusal(reason: String(cString: vaErrorStr(status))))
    }
}

extension PictureSize {
    fileprivate var unsigned: (UInt32, UInt32)? {
        guard let width = UInt32(exactly: width), let height = UInt32(exactly: height) else { return nil }
        return (width, height)
    }
}
