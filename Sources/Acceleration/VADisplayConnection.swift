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

    /// Opens the node and starts its driver. A driver that hangs is given up after some seconds.
    public init(node: String) throws(RenderNodeError) {
        let opened = try DriverCall.run(on: node) { Self.open(node) }.get()
        self.node = node
        (display, driver, descriptor) = (opened.display, opened.driver, opened.descriptor)
    }

    deinit {
        let (display, descriptor) = (display, descriptor)
        // One that hangs now keeps what it has.
        try? DriverCall.run(on: node) {
            vaTerminate(display)
            close(descriptor)
        }
    }

    private typealias Opened = (descriptor: Int32, display: VADisplay, driver: String)

    private static func open(_ node: String) -> Result<Opened, RenderNodeError> {
        let descriptor = cvaapi_open(node)
        guard descriptor >= 0 else {
            return .failure(RenderNodeError(openingFailedWith: -descriptor, node: node))
        }
        guard let display = vaGetDisplayDRM(descriptor) else {
            close(descriptor)
            return .failure(RenderNodeError(.noDriver("libva does not take it for a DRM node"), node: node))
        }
        cvaapi_silence(display)
        var (major, minor) = (Int32(0), Int32(0))
        let status = vaInitialize(display, &major, &minor)
        guard status == VA_STATUS_SUCCESS else {
            vaTerminate(display)
            close(descriptor)
            return .failure(RenderNodeError(.noDriver(String(cString: vaErrorStr(status))), node: node))
        }
        let driver = vaQueryVendorString(display).map { String(cString: $0) } ?? "unknown driver"
        return .success((descriptor, display, driver))
    }

    /// What the driver can do with a profile; empty where it does not have it. To be asked before anything else of an
    /// entry point: some drivers answer vaGetConfigAttributes for those that they do not have (nvidia-vaapi-driver).
    ///
    /// Enters the driver, and so belongs in a `DriverCall`.
    public func entryPoints(of profile: VAProfile) -> [VAEntrypoint] {
        var entryPoints = Array(
            repeating: VAEntrypoint(rawValue: 0), count: Int(max(0, vaMaxNumEntrypoints(display))))
        var count: Int32 = 0
        guard
            vaQueryConfigEntrypoints(display, profile, &entryPoints, &count) == VA_STATUS_SUCCESS,
            (0...entryPoints.count).contains(Int(count))
        else { return [] }
        return Array(entryPoints.prefix(Int(count)))
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
