import CFFmpeg
import CVAAPI
import CamAcceleration
import CamPictures
import Glibc

/// A surface in memory that a GPU shares with a camera. The last owner releases the surface; frames that
/// libavcodec keeps are owners, too.
final class SharedSurface: @unchecked Sendable {
    // Safe to share: immutable, and the connection runs all calls in its own thread.
    let id: VASurfaceID
    let connection: VADisplayConnection
    /// The buffer that frames refer to; nil if memory ran out.
    private let anchor: UnsafeMutablePointer<AVBufferRef>?

    private init(_ id: VASurfaceID, on connection: VADisplayConnection) {
        (self.id, self.connection) = (id, connection)
        let lifetime = Unmanaged.passRetained(Lifetime(id, connection))
        anchor = av_buffer_create(
            nil, 0, { lifetime, _ in lifetime.map { Unmanaged<Lifetime>.fromOpaque($0).release() } },
            lifetime.toOpaque(), 0)
        if anchor == nil { lifetime.release() }
    }

    deinit {
        var anchor = anchor
        av_buffer_unref(&anchor)
    }

    /// Returns another reference, which makes a frame an owner; nil if memory ran out.
    func reference() -> UnsafeMutablePointer<AVBufferRef>? { anchor.flatMap { av_buffer_ref($0) } }

    /// Destroys the surface with the last reference, in any thread.
    private final class Lifetime {
        private let id: VASurfaceID
        private let connection: VADisplayConnection

        init(_ id: VASurfaceID, _ connection: VADisplayConnection) {
            (self.id, self.connection) = (id, connection)
        }

        deinit {
            let (display, id) = (connection.display, id)
            try? connection.call {
                var id = id
                vaDestroySurfaces(display, &id, 1)
            }
        }
    }

    /// Allocates a surface into which a camera can write pictures of a format.
    ///
    /// Calls the driver: use it inside a connection's `call`.
    /// - Returns: memory that the surface owns; nil if the driver uses another layout.
    static func allocate(for format: PictureFormat, on connection: VADisplayConnection) -> DMABuffer? {
        guard var wanted = cvaapi_layout(format, offset: 0) else { return nil }
        var id = VASurfaceID()
        guard cvaapi_create_linear(connection.display, &wanted, &id) == VA_STATUS_SUCCESS else { return nil }
        var descriptor: Int32 = -1
        var layout = cvaapi_layout()
        // A surface whose export failed is left to vaTerminate. Intel's driver would keep it in a list of
        // exported memory, reuse it, and write into freed memory (media-driver 23.1 to 26.3,
        // mos_gem_bo_export_to_prime).
        guard cvaapi_export(connection.display, id, &descriptor, &layout) == VA_STATUS_SUCCESS else {
            return nil
        }
        let length = Int(lseek(descriptor, 0, SEEK_END))
        let surface = SharedSurface(id, on: connection)
        let memory = DMABuffer(adopting: descriptor, length: length, owner: surface)
        return layout.holds(wanted) && length >= wanted.length ? memory : nil
    }

    /// Imports a picture in another device's memory as a surface.
    ///
    /// Calls the driver: use it inside a connection's `call`, or in the encode thread.
    /// - Parameter offset: the picture's offset in the memory.
    static func make(
        in memory: DMABuffer, at offset: Int, _ format: PictureFormat, on connection: VADisplayConnection
    ) -> Result<SharedSurface, Refusal> {
        guard var layout = cvaapi_layout(format, offset: offset), layout.length <= memory.length,
            let size = UInt32(exactly: memory.length)
        else { return .failure(Refusal(reason: "the camera's memory is too large or too small")) }
        var id = VASurfaceID()
        let status = cvaapi_import(connection.display, memory.descriptor, size, &layout, &id)
        guard status == VA_STATUS_SUCCESS else {
            return .failure(Refusal(reason: String(cString: vaErrorStr(status))))
        }
        return .success(SharedSurface(id, on: connection))
    }

    /// Why a driver does not accept a camera's memory, or does not convert its pictures.
    struct Refusal: Error { let reason: String }
}

extension cvaapi_layout {
    /// Nil for formats that cannot be shared, and for numbers that do not fit libva's types.
    fileprivate init?(_ format: PictureFormat, offset: Int) {
        guard format.isShareable, let fourcc = format.pixelFormat.fourcc,
            let first = format.planes.first, let last = format.planes.last,
            let width = UInt32(exactly: format.size.width), let height = UInt32(exactly: format.size.height),
            let firstPitch = UInt32(exactly: first.stride), let lastPitch = UInt32(exactly: last.stride),
            let firstOffset = UInt32(exactly: first.offset + offset),
            let lastOffset = UInt32(exactly: last.offset + offset)
        else { return nil }
        let hasChroma = format.planes.count > 1
        self.init(
            fourcc: fourcc, width: width, height: height,
            pitch: (firstPitch, hasChroma ? lastPitch : 0), offset: (firstOffset, hasChroma ? lastOffset : 0))
    }

    /// The number of bytes up to the end of the last row.
    fileprivate var length: Int {
        max(
            Int(offset.0) + Int(pitch.0) * Int(height),
            Int(offset.1) + Int(pitch.1) * Int(height / 2))
    }

    /// Whether both layouts place a picture's samples identically.
    fileprivate func holds(_ other: cvaapi_layout) -> Bool {
        fourcc == other.fourcc && pitch == other.pitch && offset == other.offset
    }
}

extension PixelFormat {
    /// libva's code for the format; nil if a GPU cannot read it in a camera's memory.
    var fourcc: UInt32? {
        switch self {
        case .nv12: UInt32(CVAAPI_FOURCC_NV12)
        case .yuyv: UInt32(CVAAPI_FOURCC_YUYV)
        case .uyvy: UInt32(CVAAPI_FOURCC_UYVY)
        default: nil
        }
    }
}

extension PictureFormat {
    /// Whether a GPU can read the pictures in a camera's memory: NV12, YUYV and UYVY of even size with
    /// progressive rows.
    var isShareable: Bool {
        pixelFormat.fourcc != nil && firstField == nil && size.width % 2 == 0 && size.height % 2 == 0
    }
}

/// Converts packed 4:2:2 on a GPU to the NV12 that its encoder takes, in separate surfaces.
///
/// Used by one thread at a time, finally by the encode thread.
final class SharedConversion {
    let connection: VADisplayConnection
    private let processor: cvaapi_processor
    /// The pool of converted surfaces, of the pictures' size. The driver pads them to the coded size, like a
    /// camera's.
    private let frames: UnsafeMutablePointer<AVBufferRef>

    /// Starts the GPU's video processing.
    /// - Returns: nil if the driver does not convert the format.
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

    /// Whether a driver's conversion has been compared with camrec's: true for Intel's, on the emulated GPU.
    /// - Parameter driver: the driver's name for itself.
    static func isProven(_ driver: String) -> Bool { driver.contains("iHD") }

    deinit {
        let (processor, frames) = (processor, frames)
        try? connection.call {
            var (processor, frames) = (processor, Optional(frames))
            cvaapi_processor_close(&processor)
            av_buffer_unref(&frames)
        }
    }

    /// Converts a surface into another one, which the frame then holds. The driver orders the conversion
    /// before later uses.
    /// - Returns: the converted surface, or the driver's reason for failing.
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
