import CFFmpeg
import CVAAPI
import Glibc
import CamPlatform

/// An open render node with a VA-API driver on it. Released once, by its last owner.
///
/// We open the node ourselves: libavutil drops errno, and its search picks whichever GPU comes first.
public final class VADisplayConnection {
    /// The render node's path.
    public let node: String
    /// libva's own handle, valid as long as the connection.
    public let display: VADisplay
    /// The driver's own name, such as `Intel iHD driver … 23.1.1`.
    public let driver: String
    private let descriptor: Int32
    private let thread: WatchedThread

    /// How many seconds a driver may make no progress: it may load and compile a lot from a disk that must
    /// spin up.
    private static let patience = 10

    /// Opens the node and starts its driver. A driver that hangs is given up after a few seconds.
    public init(node: String) throws(RenderNodeError) {
        let thread = WatchedThread()
        guard let result = thread.run(patience: Self.patience, { Self.open(node) }) else {
            throw RenderNodeError(.hangs, node: node)
        }
        let opened = try result.get()
        self.node = node
        self.thread = thread
        (display, driver, descriptor) = (opened.display, opened.driver, opened.descriptor)
    }

    deinit {
        let (display, descriptor) = (display, descriptor)
        // If the driver hangs, now or already, its resources are leaked.
        try? call {
            vaTerminate(display)
            close(descriptor)
        }
    }

    /// Makes a call into the driver, which may never return, such as when a laptop's second GPU does not
    /// resume. After one call has hung, no further calls are made.
    ///
    /// Calls run one after another on the connection's own thread.
    /// - Parameter call: the call. Its captured values are leaked if it never returns. libav keeps its
    ///   messages per thread, so the call must read them itself.
    public func call<Value>(_ call: @escaping () -> Value) throws(RenderNodeError) -> Value {
        guard let value = thread.run(patience: Self.patience, call) else {
            throw RenderNodeError(.hangs, node: node)
        }
        return value
    }

    private typealias Opened = (descriptor: Int32, display: VADisplay, driver: String)

    private static func open(_ node: String) -> Result<Opened, RenderNodeError> {
        let descriptor = cvaapi_open(node)
        guard descriptor >= 0 else {
            return .failure(RenderNodeError(openingFailedWith: -descriptor, node: node))
        }
        guard let display = vaGetDisplayDRM(descriptor) else {
            close(descriptor)
            return .failure(
                RenderNodeError(.noDriver("libva does not recognise it as a DRM node"), node: node))
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

    /// Returns the driver's entry points for a profile; empty if it lacks the profile. Call this before
    /// querying an entry point: some drivers answer vaGetConfigAttributes for entry points they do not have
    /// (nvidia-vaapi-driver).
    ///
    /// Calls the driver, so use it inside a `call`.
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

    /// Creates a libavutil device on this connection, which must outlive it. Release it with
    /// `av_buffer_unref`.
    /// - Returns: nil with libav's code if it could not be created.
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
