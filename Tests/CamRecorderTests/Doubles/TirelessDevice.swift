import CV4L2
import Glibc
import CamPictures
import CamPlatform

@testable import Capture

/// A camera that always has the next frame, and allocates nothing while it streams.
final class TirelessDevice: V4L2Calls, @unchecked Sendable {
    // Safe to share: the capture thread's alone.
    private let pixelFormat: PixelFormat
    private let layout: PictureFormat
    private var queue = InlineArray<32, UInt32>(repeating: 0)
    private var first = 0
    private var count = 0
    private var sequence: UInt32 = 0
    private var isMultiPlanar: Bool { pixelFormat.memoryPlaneCount > 1 }

    init(_ pixelFormat: PixelFormat) {
        self.pixelFormat = pixelFormat
        layout = PictureFormat(
            pixelFormat, size: PictureSize(64, 48)!, frameRate: FrameRate(30)!,
            color: ColorEncoding(range: .limited, matrix: .bt601))!
    }

    func open(_ path: String) -> Int32 { 1000 }
    func lock(_ descriptor: Int32) -> Int32 { 0 }

    func unlock(_ descriptor: Int32) {}

    func close(_ descriptor: Int32) {}

    func map(_ descriptor: Int32, length: Int, offset: Int) -> Result<UnsafeMutableRawBufferPointer, Errno> {
        let mapped = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        return .success(UnsafeMutableRawBufferPointer(start: mapped, count: length))
    }

    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, for duration: Duration?) -> Int32 {
        guard descriptors.count > 1, count > 0 else {
            return cv4l2_poll(descriptors.baseAddress, 1, duration.map { Int64($0 / .nanoseconds(1)) } ?? -1)
        }
        _ = cv4l2_poll(descriptors.baseAddress, 1, 0)
        descriptors[1].revents = Int16(POLLIN)
        return 1
    }

    func control(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32 {
        switch request {
        case CV4L2_QUERYCAP:
            argument.assumingMemoryBound(to: v4l2_capability.self).pointee.capabilities =
                UInt32(V4L2_CAP_STREAMING)
                | UInt32(isMultiPlanar ? V4L2_CAP_VIDEO_CAPTURE_MPLANE : V4L2_CAP_VIDEO_CAPTURE)
        case CV4L2_ENUM_FMT:
            let answer = argument.assumingMemoryBound(to: v4l2_fmtdesc.self)
            guard answer.pointee.index == 0 else { return -EINVAL }
            answer.pointee.pixelformat = pixelFormat.rawValue
        case CV4L2_S_FMT: grant(argument.assumingMemoryBound(to: v4l2_format.self))
        case CV4L2_G_PARM:
            argument.assumingMemoryBound(to: v4l2_streamparm.self).pointee.parm.capture.timeperframe =
                v4l2_fract(numerator: 1, denominator: 30)
        case CV4L2_G_FMT, CV4L2_REQBUFS, CV4L2_STREAMON, CV4L2_STREAMOFF: break
        case CV4L2_QUERYBUF: describe(argument.assumingMemoryBound(to: v4l2_buffer.self))
        case CV4L2_QBUF:
            queue[(first + count) % 32] = argument.assumingMemoryBound(to: v4l2_buffer.self).pointee.index
            count += 1
        case CV4L2_DQBUF: return deliver(into: argument.assumingMemoryBound(to: v4l2_buffer.self))
        default: return -ENOTTY
        }
        return 0
    }

    private func grant(_ answer: UnsafeMutablePointer<v4l2_format>) {
        guard isMultiPlanar else {
            answer.pointee.fmt.pix.width = 64
            answer.pointee.fmt.pix.height = 48
            answer.pointee.fmt.pix.bytesperline = UInt32(layout.planes.first?.stride ?? 0)
            answer.pointee.fmt.pix.sizeimage = 1 << 16
            return
        }
        answer.pointee.fmt.pix_mp.width = 64
        answer.pointee.fmt.pix_mp.height = 48
        answer.pointee.fmt.pix_mp.num_planes = UInt8(pixelFormat.memoryPlaneCount)
        withUnsafeMutableBytes(of: &answer.pointee.fmt.pix_mp.plane_fmt) { bytes in
            let planes = bytes.assumingMemoryBound(to: v4l2_plane_pix_format.self)
            for index in layout.planes.indices {
                planes[index].bytesperline = UInt32(layout.planes[index].stride)
                planes[index].sizeimage = 1 << 16
            }
        }
    }

    private func describe(_ answer: UnsafeMutablePointer<v4l2_buffer>) {
        guard isMultiPlanar, let planes = answer.pointee.m.planes else {
            answer.pointee.length = 1 << 16
            return
        }
        for plane in layout.planes.indices { planes[plane].length = 1 << 16 }
    }

    private func deliver(into answer: UnsafeMutablePointer<v4l2_buffer>) -> Int32 {
        guard count > 0 else { return -EAGAIN }
        answer.pointee.index = queue[first]
        first = (first + 1) % 32
        count -= 1
        answer.pointee.sequence = sequence
        sequence &+= 1
        guard isMultiPlanar, let planes = answer.pointee.m.planes else {
            answer.pointee.bytesused = 1 << 16
            return 0
        }
        for plane in 0..<pixelFormat.memoryPlaneCount { planes[plane].bytesused = 1 << 16 }
        return 0
    }
}
