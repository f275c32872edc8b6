import CV4L2
import CamPictures
import CamPlatform
import Glibc
import Synchronization

/// Finds a disconnected camera and reopens it, under whatever name the kernel now gives it.
///
/// A camera in the same place is the same camera, under its old path or another. Sysfs distinguishes the
/// channels of a grabber and the two cameras in a laptop's lid, which share a name and a bus position. A
/// camera in another place is the same if a link leads to it (the link by which it was opened, or udev's in
/// /dev/v4l/by-id) and its serial number is unique: cheap cameras have none, or all have the same one. The
/// finder never mistakes another camera for the lost one.
///
/// Another camera with the same serial number may be plugged in during the recording. A camera that is
/// already in another port when this one is lost is another camera: moving a camera takes longer.
public final class CameraFinder: Sendable {
    private let identity: SourceIdentity
    private let link: String?
    private let request: CaptureRequest
    private let sharing: (any SharedMemorySource)?
    private let controls: LiveControls?
    private let machine: Machine
    private let search: Mutex<Search>

    /// The state of the search.
    private struct Search {
        /// The latest bus position: the camera may have been moved since the recording began.
        var bus: String?
        var place: NodePlace?
        /// Whether another camera has the same serial number.
        var hasTwin: Bool
        /// Whether the search has begun since the camera was lost.
        var hasBegun = false
    }

    /// The parts of the machine that the search uses. Tests replace them.
    struct Machine: Sendable {
        var calls: any V4L2Calls = KernelCalls()
        var nodes: @Sendable () -> [String] = { VideoNode.all() }
        var place: @Sendable (String) -> NodePlace? = { NodePlace.find($0) }
    }

    /// Remembers a camera, which must be present now.
    /// - Parameters:
    ///   - request: the original request.
    ///   - sharing: the device that reads the pictures instead of the processor.
    ///   - controls: sets again what was set during the recording.
    /// - Returns: nil if the source is not a device.
    public convenience init?(
        _ identity: SourceIdentity, request: CaptureRequest, sharing: (any SharedMemorySource)? = nil,
        controls: LiveControls? = nil
    ) {
        guard identity.bus != nil else { return nil }
        self.init(
            identity, link: Self.link(to: identity.device), request: request, sharing: sharing,
            controls: controls, machine: Machine())
    }

    init(
        _ identity: SourceIdentity, link: String?, request: CaptureRequest,
        sharing: (any SharedMemorySource)? = nil, controls: LiveControls? = nil, machine: Machine
    ) {
        self.identity = identity
        self.link = link
        self.request = request
        self.sharing = sharing
        self.controls = controls
        self.machine = machine
        let place = machine.place(identity.device)
        search = Mutex(Search(bus: identity.bus, place: place, hasTwin: Self.hasTwin(place, machine)))
    }

    /// Opens the camera for a stream that continues one of `format`: with exactly that format if possible,
    /// otherwise as close to it as the original request allows.
    public func open(continuing format: PictureFormat) throws(CaptureError) -> any CaptureStream {
        lookForTwin()
        let stream = try openStream(continuing: format)
        controls?.attach(to: stream.identity)
        controls?.reapply(to: stream)
        let place = machine.place(stream.identity.device)
        search.withLock { ($0.bus, $0.place, $0.hasBegun) = (stream.identity.bus, place, false) }
        return stream
    }

    private func lookForTwin() {
        search.withLock {
            guard !$0.hasBegun else { return }
            $0.hasBegun = true
            if Self.hasTwin($0.place, machine) { $0.hasTwin = true }
        }
    }

    private func openStream(continuing format: PictureFormat) throws(CaptureError) -> CameraStream {
        var wish = request
        (wish.size, wish.frameRate, wish.pixelFormat) = (format.size, format.frameRate, format.pixelFormat)
        do throws(CaptureError) {
            return try find().makeStream(wish, continuing: format, sharing: sharing)
        } catch {
            guard case .unsupported = error.kind, request.pixelFormat != format.pixelFormat else {
                throw error
            }
        }
        wish.pixelFormat = request.pixelFormat
        return try find().makeStream(wish, continuing: format, sharing: sharing)
    }

    private func find() throws(CaptureError) -> Camera {
        let former = search.withLock { $0 }
        var refusal: CaptureError?
        if let link {
            do throws(CaptureError) {
                let camera = try Camera(path: link, calls: machine.calls)
                if isSame(camera, at: link, as: former) { return camera }
            } catch {
                refusal = error
            }
        }
        let paths = [identity.device] + machine.nodes().filter { $0 != identity.device }
        for path in paths {
            do throws(CaptureError) {
                let camera = try Camera(path: path, calls: machine.calls)
                if isInPlace(camera, at: path, as: former) { return camera }
            } catch {
                // Only the old path counts: which camera another unreadable node belongs to is unknown.
                if path == identity.device, case .permissionDenied = error.kind { refusal = error }
            }
        }
        throw refusal ?? CaptureError(.notFound, device: identity.device)
    }

    /// Whether the link leads to the lost camera.
    private func isSame(_ camera: borrowing Camera, at path: String, as former: Search) -> Bool {
        let found = machine.place(path)
        if camera.identity.bus == former.bus { return Self.isPlace(found, former.place) }
        guard let serial = found?.unit?.serial, serial == former.place?.unit?.serial else { return false }
        return !former.hasTwin && !Self.hasTwin(found, machine)
    }

    /// Whether a camera has the name and the place of the lost camera.
    private func isInPlace(_ camera: borrowing Camera, at path: String, as former: Search) -> Bool {
        camera.identity.name == identity.name && camera.identity.bus == former.bus
            && Self.isPlace(machine.place(path), former.place)
    }

    /// Without sysfs, the bus position must do. A different serial number means a different camera of the
    /// same model in that port.
    private static func isPlace(_ found: NodePlace?, _ place: NodePlace?) -> Bool {
        guard let found, let place else { return true }
        if let serial = found.unit?.serial, let former = place.unit?.serial, serial != former { return false }
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

// MARK: Where a camera is

/// A video node's place in sysfs: its hardware, and its number among the nodes of that hardware.
struct NodePlace: Sendable, Hashable {
    /// The USB interface, such as `1.0`: two cameras in one case have one each. Nil if the node is not on
    /// USB.
    let interface: String?
    /// The number among the nodes of its device: a grabber has one node per channel.
    let index: Int
    /// The node's USB device; nil if the node is not on USB.
    let unit: USBUnit?

    /// A USB device, identified by its descriptors.
    struct USBUnit: Sendable, Hashable {
        /// The folder of the port in sysfs.
        let port: String
        /// Vendor, product and serial number; nil without a serial number.
        let serial: String?
    }
}

extension NodePlace {
    /// Returns the place of a node, or of a link to a node; nil if it is not in sysfs.
    static func find(_ path: String) -> NodePlace? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return nil }
        let (major, minor) = (cv4l2_major(status.st_rdev), cv4l2_minor(status.st_rdev))
        return find(inFolder: "/sys/dev/char/\(major):\(minor)")
    }

    /// - Parameter folder: the node's folder in sysfs.
    static func find(inFolder folder: String) -> NodePlace? {
        guard let device = realpath("\(folder)/device", nil) else { return nil }
        defer { free(device) }
        let path = String(cString: device)
        guard let index = text("\(folder)/index").flatMap({ Int($0) }) else { return nil }
        guard let unit = unit(ofInterface: path) else {
            return NodePlace(interface: nil, index: index, unit: nil)
        }
        return NodePlace(
            interface: path.split(separator: ":").last.map(String.init), index: index, unit: unit)
    }

    private static func unit(ofInterface path: String) -> USBUnit? {
        let port = Folder.of(path)
        guard let maker = text("\(port)/idVendor"), let model = text("\(port)/idProduct") else { return nil }
        let serial = text("\(port)/serial").flatMap { $0.isEmpty ? nil : "\(maker):\(model):\($0)" }
        return USBUnit(port: port, serial: serial)
    }

    /// The first line of a file.
    private static func text(_ path: String) -> String? {
        let descriptor = cv4l2_open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = bytes.withUnsafeMutableBytes { cv4l2_read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { return nil }
        return String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }
}

/// udev's links to a camera, which stay the same when /dev/videoN is renumbered.
public enum StableLink {
    /// The folder of the distribution's links.
    public static let commonFolder = "/dev/v4l/by-id"
    /// The folder of the links that camrec's own rules make.
    public static let ownFolder = "/dev/camrec"

    /// Returns the link in a folder that leads to `path`.
    public static func find(for path: String, in folder: String = commonFolder) -> String? {
        var wanted = stat()
        guard stat(path, &wanted) == 0 else { return nil }
        let links = Folder.names(in: folder).map { "\(folder)/\($0)" }.filter { link in
            var status = stat()
            return stat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
                && status.st_rdev == wanted.st_rdev
        }
        return links.min()
    }
}
