import CV4L2
import CamPictures
import Glibc

/// A camera's buffers, all queued.
struct CameraBuffers {
    let pool: PixelBufferPool
    let requests: V4L2BufferRequest

    /// All buffers, as bits.
    var all: UInt32 { UInt32((UInt64(1) << UInt64(pool.count)) - 1) }

    /// Buffers to request: two that stay with the driver, one being encoded, one just taken, and six that may
    /// wait, a fifth of a second at 30 frames a second, while a busy machine does something else. A driver
    /// may grant fewer (v4l2loopback's default is two) and then loses frames sooner.
    static let wanted: UInt32 = 10

    /// The fewest shared buffers: with fewer, readers and the encoder could hold all of them, leaving the
    /// driver none.
    private static let fewestShared = PixelBufferPool.heldByReader + 6

    /// Whose memory the camera writes into.
    private enum Memory {
        /// Another device's memory.
        case imported([DMABuffer])
        /// The camera's own memory, which another device reads.
        case exported
        /// The camera's own memory, mapped for the processor.
        case mapped
    }

    /// Requests buffers and queues them. With `sharing`, the camera writes into the reader's memory if both
    /// support that, otherwise into its own memory, which it shares if it can.
    /// - Parameter sharing: the device that reads the pictures instead of the processor.
    static func queued(
        on device: V4L2Device, isMultiPlanar: Bool, format: PictureFormat,
        sharing: (any SharedMemorySource)?
    ) throws(CaptureError) -> CameraBuffers {
        if let sharing, format.minimumLengths.count == 1, sharing.reads(format) {
            let count = Int(wanted) + PixelBufferPool.heldByReader
            if let memory = sharing.makeBuffers(for: format, count: count),
                let buffers = try? queued(.imported(memory), on: device, isMultiPlanar, format)
            {
                return buffers
            }
            if let buffers = try? queued(.exported, on: device, isMultiPlanar, format) { return buffers }
        }
        return try queued(.mapped, on: device, isMultiPlanar, format)
    }

    private static func queued(
        _ kind: Memory, on device: V4L2Device, _ isMultiPlanar: Bool, _ format: PictureFormat
    ) throws(CaptureError) -> CameraBuffers {
        var memory: [DMABuffer] = []
        if case .imported(let buffers) = kind { memory = buffers }
        let requests = V4L2BufferRequest(
            type: V4L2BufferType.capture(isMultiPlanar), isMultiPlanar: isMultiPlanar, imported: memory)
        do throws(CaptureError) {
            var wanted = wanted
            if case .mapped = kind {} else { wanted += UInt32(PixelBufferPool.heldByReader) }
            let count = try request(wanted, on: device, requests)
            if case .mapped = kind {} else { try checkShared(count, of: Int(wanted), on: device) }
            let pool =
                switch kind {
                case .imported: try share(Array(memory.prefix(count)), format)
                case .exported: try share(try export(count, on: device, requests, format), format)
                case .mapped: try map(count, on: device, requests, format)
                }
            for index in 0..<pool.count {
                var request = requests.make(index)
                let result = device.control(CV4L2_QBUF, &request)
                guard result >= 0 else { throw device.failure("VIDIOC_QBUF", result) }
            }
            return CameraBuffers(pool: pool, requests: requests)
        } catch {
            // Release the buffers: other memory may be tried next.
            _ = try? request(0, on: device, requests)
            throw error
        }
    }

    /// Returns how many buffers the driver grants.
    private static func request(
        _ count: UInt32, on device: V4L2Device, _ requests: V4L2BufferRequest
    ) throws(CaptureError) -> Int {
        var request = v4l2_requestbuffers()
        request.count = count
        request.type = requests.type
        request.memory = requests.memory
        let result = device.control(CV4L2_REQBUFS, &request)
        guard result >= 0 else { throw device.failure("VIDIOC_REQBUFS", result) }
        if count > 0, !(1...PixelBufferPool.maximumCount).contains(Int(request.count)) {
            throw device.error(.driverMisbehaved("it granted \(request.count) buffers, not \(count)"))
        }
        return Int(request.count)
    }

    private static func checkShared(
        _ count: Int, of wanted: Int, on device: V4L2Device
    ) throws(CaptureError) {
        guard (fewestShared...wanted).contains(count) else {
            throw device.error(.driverMisbehaved("it granted \(count) buffers to share, not \(wanted)"))
        }
    }

    private static func share(
        _ memory: [DMABuffer], _ format: PictureFormat
    ) throws(CaptureError) -> PixelBufferPool {
        do throws(PixelBufferPoolError) {
            // A driver may not claim more memory than it was given.
            return try PixelBufferPool.shared(memory, length: memory.map(\.length).min() ?? 0)
        } catch { throw CaptureError(error) }
    }

    /// Shares the driver's buffers with other devices.
    private static func export(
        _ count: Int, on device: V4L2Device, _ requests: V4L2BufferRequest, _ format: PictureFormat
    ) throws(CaptureError) -> [DMABuffer] {
        var memory: [DMABuffer] = []
        for index in 0..<count {
            let length = try place(of: index, on: device, requests, plane: 0, format).length
            var export = v4l2_exportbuffer()
            export.type = requests.type
            export.index = UInt32(index)
            export.flags = UInt32(O_CLOEXEC | O_RDWR)
            let result = device.control(CV4L2_EXPBUF, &export)
            guard result >= 0 else { throw device.failure("VIDIOC_EXPBUF", result) }
            memory.append(DMABuffer(adopting: export.fd, length: length))
        }
        return memory
    }

    /// Maps the driver's buffers. After a failure, mapped buffers are unmapped by the pool or here.
    private static func map(
        _ count: Int, on device: V4L2Device, _ requests: V4L2BufferRequest, _ format: PictureFormat
    ) throws(CaptureError) -> PixelBufferPool {
        var planes: [UnsafeMutableRawBufferPointer] = []
        do throws(CaptureError) {
            for index in 0..<count {
                for plane in 0..<format.minimumLengths.count {
                    let place = try place(of: index, on: device, requests, plane: plane, format)
                    switch device.calls.map(device.descriptor, length: place.length, offset: place.offset) {
                    case .success(let memory): planes.append(memory)
                    case .failure(let failure): throw device.failure("mmap", -failure.code)
                    }
                }
            }
        } catch {
            for plane in planes { munmap(plane.baseAddress, plane.count) }
            throw error
        }
        do throws(PixelBufferPoolError) {
            return try PixelBufferPool(
                backing: .mapped, planes: planes, planesPerBuffer: format.minimumLengths.count)
        } catch { throw CaptureError(error) }
    }

    /// The offset and the length of a memory plane of the driver.
    private static func place(
        of index: Int, on device: V4L2Device, _ requests: V4L2BufferRequest, plane: Int,
        _ format: PictureFormat
    ) throws(CaptureError) -> (offset: Int, length: Int) {
        var request = requests.make(index)
        let result = device.control(CV4L2_QUERYBUF, &request)
        guard result >= 0 else { throw device.failure("VIDIOC_QUERYBUF", result) }
        let place = requests.mapping(of: request, plane: plane)
        guard place.length >= format.minimumLengths[plane] else {
            throw device.error(
                .driverMisbehaved(
                    "buffer \(index) has \(place.length) of \(format.minimumLengths[plane]) bytes"))
        }
        return place
    }
}

// MARK: Calls about buffers

/// Builds the `v4l2_buffer` of a call and reads it afterwards, single- and multi-planar alike.
///
/// Multi-planar calls need an array of planes next to the buffer. There is one for all calls of a stream,
/// which come from a single thread, created in advance.
final class V4L2BufferRequest {
    let type: UInt32
    private let isMultiPlanar: Bool
    /// Another device's memory that the camera writes into; empty if the camera uses its own.
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

    /// The kind of memory (`enum v4l2_memory`).
    var memory: UInt32 { (isImported ? V4L2_MEMORY_DMABUF : V4L2_MEMORY_MMAP).rawValue }

    /// - Parameter index: the buffer's index; any value to dequeue a buffer.
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
