import Glibc

/// Finds a camera again that went away, under whatever name the kernel gives it then, and opens it.
///
/// A camera is known by the link that it was opened by, or by udev's in /dev/v4l/by-id; one that has none by its
/// bus position and name. Of cheap cameras with one serial number for all, udev gives the link to the one that was
/// plugged in last; then the bus position tells them apart.
public struct CameraFinder: Sendable {
    private let identity: SourceIdentity
    private let link: String?
    private let request: CaptureRequest
    private let calls: any V4L2Calls
    private let nodes: @Sendable () -> [String]
    private let stableLink: @Sendable (String) -> String?

    /// Remembers a camera, which must be there now.
    /// - Parameter request: what was asked of it at first.
    /// - Returns: nil for what is no device.
    public init?(_ identity: SourceIdentity, request: CaptureRequest) {
        guard identity.bus != nil else { return nil }
        self.init(
            identity, link: Self.link(to: identity.device), request: request, calls: KernelCalls(),
            nodes: VideoNode.all, stableLink: { StableLink.find(for: $0) })
    }

    init(
        _ identity: SourceIdentity, link: String?, request: CaptureRequest, calls: any V4L2Calls,
        nodes: @escaping @Sendable () -> [String], stableLink: @escaping @Sendable (String) -> String?
    ) {
        self.identity = identity
        self.link = link
        self.request = request
        self.calls = calls
        self.nodes = nodes
        self.stableLink = stableLink
    }

    /// Opens the camera for a stream that continues one of `format`: just like that where it can, else as near
    /// to it as what was asked for at first allows.
    public func open(continuing format: PictureFormat) throws(CaptureError) -> any CaptureStream {
        var wish = request
        (wish.size, wish.frameRate, wish.pixelFormat) = (format.size, format.frameRate, format.pixelFormat)
        do throws(CaptureError) {
            return try find().makeStream(wish, continuing: format)
        } catch {
            guard case .unsupported = error.kind, request.pixelFormat != format.pixelFormat else {
                throw error
            }
        }
        wish.pixelFormat = request.pixelFormat
        return try find().makeStream(wish, continuing: format)
    }

    private func find() throws(CaptureError) -> Camera {
        guard let link else { return try findInPlace() }
        let camera = try Camera(path: link, calls: calls)
        if camera.identity.bus == identity.bus { return camera }
        // A camera without a link of its own has lost it to the other one.
        if let twin = try? findInPlace(), stableLink(twin.identity.device) == nil { return twin }
        return camera
    }

    /// The camera of the same name in the same bus position.
    private func findInPlace() throws(CaptureError) -> Camera {
        var refusal: CaptureError?
        for path in nodes() {
            do throws(CaptureError) {
                let camera = try Camera(path: path, calls: calls)
                if camera.identity.name == identity.name, camera.identity.bus == identity.bus {
                    return camera
                }
            } catch {
                // Whose node another one is cannot be told.
                if path == identity.device, case .permissionDenied = error.kind { refusal = error }
            }
        }
        throw refusal ?? CaptureError(.notFound, device: identity.device)
    }

    private static func link(to path: String) -> String? {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { return path }
        return StableLink.find(for: path)
    }
}
