import CFFmpeg
import CVAAPI
import Glibc

/// An open render node with a VA-API driver on it. Released once, by its last owner.
///
/// We open the node ourselves: libavutil drops errno, and its search takes whichever GPU comes first.
public final class VADisplayConnection {
    /// The render node's path.
    public let node: String
    /// libva's own handle, valid for as long as the connection.
    public let display: VADisplay
    /// What the driver calls itself, such as `Intel iHD driver … 23.1.1`.
    public let driver: String
    private let descriptor: Int32

    /// Opens the node and starts its driver.
    public init(node: String) throws(RenderNodeError) {
        let opened = cvaapi_open(node)
        guard opened >= 0 else { throw RenderNodeError(openingFailedWith: -opened, node: node) }
        guard let display = vaGetDisplayDRM(opened) else {
            close(opened)
            throw RenderNodeError(.noDriver("libva does not take it for a DRM node"), node: node)
        }
        cvaapi_silence(display)
        var (major, minor) = (Int32(0), Int32(0))
        let status = vaInitialize(display, &major, &minor)
        guard status == VA_STATUS_SUCCESS else {
            vaTerminate(display)
            close(opened)
            throw RenderNodeError(.noDriver(String(cString: vaErrorStr(status))), node: node)
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

    /// A libavutil device on this connection, which must outlive it; to be released with `av_buffer_unref`.
    /// - Returns: nil with libav's code where it could not be made.
    public func makeDevice() -> (device: UnsafeMutablePointer<AVBufferRef>?, code: Int32) {
        cffmpeg_clear_log()
        var device = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_VAAPI)
        guard let allocated = device else { return (nil, Int32(CFFMPEG_OUT_OF_MEMORY)) }
        UnsafeMutableRawPointer(allocated.pointee.data)
            .assumingMemoryBound(to: AVHWDeviceContext.self).pointee.hwctx
            .assumingMemoryBound(to: AVVAAPIDeviceContext.self).pointee.display = display
        let code = av_hwdevice_ctx_init(allocated)
        if code < 0 { av_buffer_unref(&device) }
        return (device, code)
    }
}
