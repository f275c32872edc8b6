import CV4L2
import CamPlatform
import Glibc

/// An open device node, closed by its last owner. Used by one thread only.
final class V4L2Device {
    let path: String
    private(set) var descriptor: Int32
    let calls: any V4L2Calls

    init(path: String, calls: any V4L2Calls) throws(CaptureError) {
        self.path = path
        self.calls = calls
        descriptor = calls.open(path)
        guard descriptor >= 0 else { throw Self.openError(path, code: -descriptor) }
    }

    deinit { close() }

    /// Closes the node; later calls fail.
    func close() {
        if descriptor >= 0 { calls.close(descriptor) }
        descriptor = -1
    }

    /// An ioctl; at least 0, or −errno.
    func control<Argument>(_ request: UInt, _ argument: inout Argument) -> Int32 {
        withUnsafeMutableBytes(of: &argument) { bytes in
            guard let start = bytes.baseAddress else { return -EINVAL }
            return calls.control(descriptor, request, start)
        }
    }

    /// Reserves the camera for one recorder, as long as the device is open.
    ///
    /// The lock is an advisory lock on the node itself (flock(2)). It is the same through every link to the
    /// node, it ends when its holder does, however that happens, and only those who may open the camera can
    /// take it. A lock file would instead require trust in a folder that others can write to. The kernel
    /// reports the holder in /proc/locks. V4L2's own priorities (VIDIOC_S_PRIORITY) only keep others from
    /// changing settings, and its EBUSY comes once the other program has allocated its buffers, when settings
    /// have already changed.
    func claim() throws(CaptureError) {
        guard calls.lock(descriptor) == -EWOULDBLOCK else { return }
        throw error(.busy(holder: DeviceHolder.find(of: path)))
    }

    func error(_ kind: CaptureError.Kind) -> CaptureError { CaptureError(kind, device: path) }

    /// Translates a failed call.
    func failure(_ call: String, _ result: Int32) -> CaptureError {
        switch -result {
        case ENODEV, ENXIO: error(.lost)
        case EBUSY: error(.busy(holder: DeviceHolder.find(of: path)))
        case ENOSPC where call == "VIDIOC_STREAMON": error(.noBandwidth)
        default: error(.systemCallFailed(call, errno: -result))
        }
    }

    private static func openError(_ path: String, code: Int32) -> CaptureError {
        switch code {
        case ENOENT, ENOTDIR: CaptureError(.notFound, device: path)
        case ENODEV, ENXIO: CaptureError(.notFound, device: path)
        case EACCES, EPERM:
            CaptureError(.permissionDenied(group: DeviceNode.owningGroup(of: path)), device: path)
        case EBUSY: CaptureError(.busy(holder: DeviceHolder.find(of: path)), device: path)
        case EISDIR: CaptureError(.notACaptureDevice("it is a folder"), device: path)
        default: CaptureError(.systemCallFailed("open", errno: code), device: path)
        }
    }
}
