import CVAAPI
import Capture
import Glibc

/// An open render node with a VA-API driver on it. Released once, by its last owner.
///
/// We open the node ourselves: libavutil drops errno, and its search takes whichever GPU comes first.
final class VADisplayConnection {
    let node: String
    let display: VADisplay
    /// What the driver calls itself, such as `Intel iHD driver … 23.1.1`.
    let driver: String
    private let descriptor: Int32

    init(node: String) throws(EncoderError) {
        let opened = cvaapi_open(node)
        guard opened >= 0 else { throw Self.openError(node, code: -opened) }
        guard let display = vaGetDisplayDRM(opened) else {
            close(opened)
            throw EncoderError(.noDriver(node: node, detail: "libva does not take it for a DRM node"))
        }
        cvaapi_silence(display)
        var (major, minor) = (Int32(0), Int32(0))
        let status = vaInitialize(display, &major, &minor)
        guard status == VA_STATUS_SUCCESS else {
            vaTerminate(display)
            close(opened)
            throw EncoderError(.noDriver(node: node, detail: String(cString: vaErrorStr(status))))
        }
        self.node = node
        self.display = display
        driver = vaQueryVendorString(display).map { String(cString: $0) } ?? "unknown driver"
        descriptor = opened
    }

    deinit {
        vaTerminate(display)
        close(descriptor)
    }

    private static func openError(_ node: String, code: Int32) -> EncoderError {
        switch code {
        case ENOENT, ENODEV, ENXIO:
            EncoderError(.nodeNotFound(node))
        case EACCES, EPERM:
            EncoderError(.nodePermissionDenied(node: node, group: DeviceNode.owningGroup(of: node)))
        default:
            EncoderError(.noDriver(node: node, detail: "open failed: \(String(cString: strerror(code)))"))
        }
    }
}
