import Glibc
import Synchronization

/// Finds a camera again that went away, under whatever name the kernel gives it then, and opens it.
///
/// A camera is the same in the same place, under its old path or another: sysfs tells the channels of a grabber and
/// the two cameras in a laptop's lid apart, which have one name and one bus position. In another place it is the
/// same where a link leads to it (the one that it was opened by, or udev's in /dev/v4l/by-id) and its serial number
/// is its own: cheap cameras have none, or all the same. Another one's pictures are never taken for its.
///
/// A twin may be plugged in while the camera records. So whoever has its serial number in another port at the first
/// look after a loss is a twin: nobody moves a camera that fast.
public final class CameraFinder: Sendable {
    private let identity: SourceIdentity
    private let link: String?
    private let request: CaptureRequest
    private let machine: Machine
    private let place: NodePlace?
    private let search: Mutex<Search>

    private struct Search {
        /// Another camera has the same serial number.
        var hasTwin: Bool
        /// Since the camera was lost, it has been looked for.
        var hasBegun = false
    }

    /// What it asks the machine.
    struct Machine: Sendable {
        var calls: any V4L2Calls = KernelCalls()
        var nodes: @Sendable () -> [String] = { VideoNode.all() }
        var place: @Sendable (String) -> NodePlace? = { NodePlace.find($0) }
    }

    /// Remembers a camera, which must be there now.
    /// - Parameter request: what was asked of it at first.
    /// - Returns: nil for what is no device.
    public convenience init?(_ identity: SourceIdentity, request: CaptureRequest) {
        guard identity.bus != nil else { return nil }
        self.init(identity, link: Self.link(to: identity.device), request: request, machine: Machine())
    }

    init(_ identity: SourceIdentity, link: String?, request: CaptureRequest, machine: Machine) {
        self.identity = identity
        self.link = link
        self.request = request
        self.machine = machine
        place = machine.place(identity.device)
        search = Mutex(Search(hasTwin: Self.hasTwin(place, machine)))
    }

    /// Opens the camera for a stream that continues one of `format`: just like that where it can, else as near
    /// to it as what was asked for at first allows.
    public func open(continuing format: PictureFormat) throws(CaptureError) -> any CaptureStream {
        lookForTwin()
        let stream = try openStream(continuing: format)
        search.withLock { $0.hasBegun = false }
        return stream
    }

    private func lookForTwin() {
        search.withLock {
            guard !$0.hasBegun else { return }
            $0.hasBegun = true
            if Self.hasTwin(place, machine) { $0.hasTwin = true }
        }
    }

    private func openStream(continuing format: PictureFormat) throws(CaptureError) -> any CaptureStream {
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
        var refusal: CaptureError?
        if let link {
            do throws(CaptureError) {
                let camera = try Camera(path: link, calls: machine.calls)
                if isSame(camera, at: link) { return camera }
            } catch {
                refusal = error
            }
        }
        let paths = [identity.device] + machine.nodes().filter { $0 != identity.device }
        for path in paths {
            do throws(CaptureError) {
                let camera = try Camera(path: path, calls: machine.calls)
                if isInPlace(camera, at: path) { return camera }
            } catch {
                // Whose node another one is cannot be told.
                if path == identity.device, case .permissionDenied = error.kind { refusal = error }
            }
        }
        throw refusal ?? CaptureError(.notFound, device: identity.device)
    }

    /// Whether the camera that the link leads to is the one that is looked for.
    private func isSame(_ camera: borrowing Camera, at path: String) -> Bool {
        let found = machine.place(path)
        if camera.identity.bus == identity.bus { return isPlace(found) }
        guard let serial = found?.unit?.serial, serial == place?.unit?.serial else { return false }
        return !search.withLock(\.hasTwin) && !Self.hasTwin(found, machine)
    }

    /// Whether it has the name and the place of the one that is looked for.
    private func isInPlace(_ camera: borrowing Camera, at path: String) -> Bool {
        camera.identity.name == identity.name && camera.identity.bus == identity.bus
            && isPlace(machine.place(path))
    }

    /// Without sysfs the bus position has to do.
    private func isPlace(_ found: NodePlace?) -> Bool {
        guard let found, let place else { return true }
        return found.interface == place.interface && found.index == place.index
    }

    /// Whether a camera in another port has the same serial number.
    private static func hasTwin(_ place: NodePlace?, _ machine: Machine) -> Bool {
        guard let unit = place?.unit, let serial = unit.serial else { return false }
        return machine.nodes().contains { path in
            guard let other = machine.place(path)?.unit else { return false }
            return other.serial == serial && other.port != unit.port
        }
    }

    private static func link(to path: String) -> String? {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { return path }
        return StableLink.find(for: path)
    }
}
