import CV4L2
import CamPictures

/// Builds the `v4l2_buffer` of a call and reads it afterwards, single- and multi-planar alike.
///
/// Multi-planar calls need an array of planes next to the buffer. There is one for all calls of a stream, which
/// come from a single thread, created in advance.
final class V4L2BufferRequest {
    let type: UInt32
    private let isMultiPlanar: Bool
    /// Memory of another device's that the camera writes into; empty if it has its own.
    private let imported: [DMABuffer]
    private let planes: UnsafeMutablePointer<v4l2_plane>

    init(type: UInt32, isMultiPlanar: Bool, imported: [DMABuffer] = []) {
        self.imported = imported
        self.type = type
        self.isMultiPlanar = isMultiPlanar
        planes = .allocate(capacity: Int(VIDEO_MAX_PLANES))
        planes.initialize(repeating: v4l2_plane(), count: Int(VIDEO_MAX_PLANES))
    }

    deinit { planes.deallocate() }

    /// Whether the camera writes into another device's memory.
    var isImported: Bool { !imported.isEmpty }

    /// Whose memory it is (`enum v4l2_memory`).
    var memory: UInt32 { (isImported ? V4L2_MEMORY_DMABUF : V4L2_MEMORY_MMAP).rawValue }

    /// - Parameter index: the buffer's; any to dequeue one.
    func make(_ index: Int = 0) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        buffer.type = type
        buffer.memory = memory
        buffer.index = UInt32(index)
        let descriptor = index < imported.count ? imported[index].descriptor : nil
        if isMultiPlanar {
            planes.update(repeating: v4l2_plane(), count: Int(VIDEO_MAX_PLANES))
            if let descriptor { planes[0].m.fd = descriptor }
            buffer.m.planes = planes
            buffer.length = UInt32(VIDEO_MAX_PLANES)
        } else if let descriptor {
            buffer.m.fd = descriptor
        }
        return buffer
    }

    /// Where the picture begins in a memory plane, and where the bytes filled by the driver end.
    func payload(of buffer: v4l2_buffer, plane: Int) -> (offset: Int, used: Int) {
        isMultiPlanar
            ? (Int(planes[plane].data_offset), Int(planes[plane].bytesused)) : (0, Int(buffer.bytesused))
    }

    /// Where a memory plane is mapped, and its length.
    func mapping(of buffer: v4l2_buffer, plane: Int) -> (offset: Int, length: Int) {
        isMultiPlanar
            ? (Int(planes[plane].m.mem_offset), Int(planes[plane].length))
            : (Int(buffer.m.offset), Int(buffer.length))
    }
}
