import Acceleration
import CFFmpeg
import CVAAPI
import Glibc
import Pictures

/// A surface in memory that a GPU shares with a camera. The last owner releases it, and frames that libavcodec keeps own it.
final class SharedSurface: @unchecked Sendable {
    // Safe to share: nothing changes, and the connection is only called through its own thread.
    let id: VASurfaceID
    let connection: VADisplayConnection
    /// The references of frames are to this; nil if the system has no memory.
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

    /// Makes a frame an owner; nil if the system has no memory.
    func reference() -> UnsafeMutablePointer<AVBufferRef>? { anchor.flatMap { av_buffer_ref($0) } }

    /// Ends with the last reference, in whichever thread that is.
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

    /// Allocates a surface, for a camera to write a picture of a format into.
    ///
    /// Calls the driver, so use it inside a connection's `call`.
    /// - Returns: its memory, owned by the surface; nil if the driver lays pictures out otherwise.
    static func allocate(for format: PictureFormat, on connection: VADisplayConnection) -> DMABuffer? {
        guard var wanted = cvaapi_layout(format, offset: 0) else { return nil }
        var id = VASurfaceID()
        guard cvaapi_create_linear(connection.display, &wanted, &id) == VA_STATUS_SUCCESS else { return nil }
        var descriptor: Int32 = -1
        var layout = cvaapi_layout()
        guard cvaapi_export(connection.display, id, &descriptor, &layout) == VA_STATUS_SUCCESS else {
            vaDestroySurfaces(connection.display, &id, 1)
            return nil
        }
        let length = Int(lseek(descriptor, 0, SEEK_END))
        let surface = SharedSurface(id, on: connection)
        let memory = DMABuffer(adopting: descriptor, length: length, owner: surface)
        return layout.holds(wanted) && length >= wanted.length ? memory : nil
    }

    /// Makes a surface of a picture in another device's memory.
    ///
    /// Calls the driver, so use it inside a connection's `call`, or in the thread that encodes.
    /// - Parameter offset: where in the memory the picture begins.
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

    /// Why a driver does not take a camera's memory.
    struct Refusal: Error { let reason: String }
}

extension cvaapi_layout {
    /// Nil for other formats than NV12, and for numbers that no driver takes.
    fileprivate init?(_ format: PictureFormat, offset: Int) {
        guard format.isShareable, let luma = format.planes.first, let chroma = format.planes.last,
            let width = UInt32(exactly: format.size.width), let height = UInt32(exactly: format.size.height),
            let lumaPitch = UInt32(exactly: luma.stride), let chromaPitch = UInt32(exactly: chroma.stride),
            let lumaOffset = UInt32(exactly: luma.offset + offset),
            let chromaOffset = UInt32(exactly: chroma.offset + offset)
        else { return nil }
        self.init(
            width: width, height: height, luma_pitch: lumaPitch, luma_offset: lumaOffset,
            chroma_pitch: chromaPitch, chroma_offset: chromaOffset)
    }

    /// Bytes to the end of the last row.
    fileprivate var length: Int { Int(chroma_offset) + Int(chroma_pitch) * Int(height / 2) }

    /// Whether a picture in the other layout is one in this.
    fileprivate func holds(_ other: cvaapi_layout) -> Bool {
        luma_pitch == other.luma_pitch && chroma_pitch == other.chroma_pitch
            && luma_offset == other.luma_offset && chroma_offset == other.chroma_offset
    }
}

extension PictureFormat {
    /// Whether a GPU may read its pictures as they are: NV12 with rows in their order.
    var isShareable: Bool {
        pixelFormat == .nv12 && firstField == nil
            && size.width % 2 == 0 && size.height % 2 == 0
    }
}
