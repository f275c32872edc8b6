import CamControlProtocol
import CamNetworking
import CamPlatform
import Glibc

/// A camera to show: its name on the page and in addresses, the addresses of its streams, and the control
/// socket of its recorder.
package struct Camera: Hashable, Sendable {
    /// The name on the page; unique among the cameras of a server.
    package let name: String
    /// The address of its live stream.
    package let address: CameraAddress
    /// The address of a stream of smaller pictures, for a page of many cameras; nil if there is none.
    package var smallAddress: CameraAddress?
    /// The path of the recorder's control socket; nil if the recorder has none.
    package let control: String?
    /// The place of its recordings; nil if unknown.
    package var recordings: RecordingsPlace?

    private static let longestName = 100
    private static let controlKey = ",control="
    private static let smallKey = ",small="

    /// Nil for a name that is empty or too long, or that has control characters or a slash. Also nil for `.` and `..`,
    /// which browsers remove from addresses.
    package init?(name: String, address: CameraAddress, control: String? = nil) {
        guard (1...Self.longestName).contains(name.utf8.count), !name.contains("/"), name != ".",
            name != "..",
            name.unicodeScalars.allSatisfy({ !$0.properties.generalCategory.isControl })
        else { return nil }
        (self.name, self.address, self.control) = (name, address, control)
    }

    /// Reads `[NAME=]ADDRESS[,small=ADDRESS][,control=PATH]`. Without a name, the address gives it: `127.0.0.1:9982`, and
    /// `door` for `unix:/run/camrec/door/live`. Nil for anything else.
    package init?(_ text: String) {
        let (streams, control) = Self.split(text, before: Self.controlKey)
        if let control {
            guard !control.isEmpty, !control.contains(Self.smallKey),
                (try? PathListener.refuseUnusable(control)) != nil
            else { return nil }
        }
        let (place, small) = Self.split(streams, before: Self.smallKey)
        if let address = Self.address(place) {
            self.init(name: address.usualName, address: address, control: control)
        } else if let equals = place.firstIndex(of: "="),
            let address = Self.address(String(place[place.index(after: equals)...]))
        {
            self.init(name: String(place[..<equals]), address: address, control: control)
        } else {
            return nil
        }
        if let small {
            guard let address = Self.address(small) else { return nil }
            smallAddress = address
        }
    }

    /// The text before the first `key`, and what follows it.
    private static func split(_ text: String, before key: String) -> (String, String?) {
        let parts = text.split(separator: key, maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts.first ?? ""), parts.count == 2 ? String(parts[1]) : nil)
    }

    /// The camera of the small stream alone; nil if there is none.
    var small: Camera? {
        smallAddress.map { Camera(unchecked: name + Self.smallEnding, address: $0, control: control) }
    }

    /// After a camera's name, in the address of its small stream. No name contains a slash.
    static let smallEnding = "/small"

    private init(unchecked name: String, address: CameraAddress, control: String?) {
        (self.name, self.address, self.control) = (name, address, control)
    }

    /// Refuses other options, such as `,mode=660` of a recorder or a mistyped one: they would become part of
    /// the path.
    private static func address(_ text: String) -> CameraAddress? {
        let hasOption = text.split(separator: ",").dropFirst().contains { part in
            part.firstIndex(of: "=").map { part[..<$0].allSatisfy { $0.isLetter || $0 == "-" } } ?? false
        }
        return hasOption ? nil : CameraAddress(text)
    }
}

extension CameraAddress {
    /// The usual name of a live socket, in a folder named after the camera.
    private static let usualSocket = "live"

    /// The name of a camera that was given without one.
    fileprivate var usualName: String {
        switch self {
        case .tcp(let address): return "\(address)"
        case .path(let path):
            let parts = path.split(separator: "/").filter { $0 != "." && $0 != ".." }
            guard let last = parts.last else { return path }
            return String(last == Self.usualSocket ? parts.dropLast().last ?? last : last)
        }
    }
}

extension Unicode.GeneralCategory {
    /// Whether characters of this category change the layout of text instead of being visible.
    fileprivate var isControl: Bool {
        switch self {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
        default: false
        }
    }
}

// MARK: Addresses

/// The address at which a recorder offers its live stream (`--listen`).
package enum CameraAddress: Hashable, Sendable, CustomStringConvertible {
    case tcp(SocketAddress)
    /// A UNIX socket.
    case path(String)

    private static let scheme = "unix:"

    /// Reads `tcp://HOST:PORT` or `unix:PATH`; nil for anything else.
    package init?(_ text: String) {
        if text.hasPrefix(Self.scheme) {
            let path = String(text.dropFirst(Self.scheme.count))
            do throws(NetworkError) { try PathListener.refuseUnusable(path) } catch { return nil }
            self = .path(path)
        } else {
            guard let address = SocketAddress(url: text, scheme: "tcp"), address.port != 0 else { return nil }
            self = .tcp(address)
        }
    }

    package var description: String {
        switch self {
        case .tcp(let address): "tcp://\(address)"
        case .path(let path): Self.scheme + path
        }
    }

    /// Connects.
    func connect(timeout: Duration, cancellation: CancellationFlag) throws(NetworkError) -> Socket {
        switch self {
        case .tcp(let address):
            try Socket.connect(to: address, timeout: timeout, cancellation: cancellation)
        case .path(let path): try Socket.connect(path: path)
        }
    }
}

// MARK: Sources of cameras

/// The source of a server's cameras.
package enum CameraSource: Sendable {
    /// A fixed list.
    case given([Camera])
    /// The settings of recorders, each in `NAME.conf` in a folder; recorders that do not listen are left out.
    case settings(folder: String)

    /// The cameras that a source has.
    struct Found: Sendable {
        /// In the order of the page.
        let cameras: [Camera]
        /// Why there are none, and what to do.
        var emptiness: String?
    }

    /// Returns the current cameras. Reads the folder, which may hang.
    func find() -> Found {
        switch self {
        case .given(let cameras): Found(cameras: cameras)
        case .settings(let folder): Self.find(in: folder)
        }
    }

    private static let ending = ".conf"
    /// The most cameras; more than any machine records.
    private static let mostCameras = 256

    private static func find(in folder: String) -> Found {
        guard access(folder, R_OK | X_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            return Found(cameras: [], emptiness: "\(folder): \(reason); start camweb with another --settings")
        }
        let files = Folder.names(in: folder).filter { $0.hasSuffix(ending) && !$0.hasPrefix(".") }.sorted()
        let cameras = files.prefix(mostCameras).compactMap { file -> Camera? in
            // camrec reports a file that is wrong or cannot be read.
            guard let settings = try? SettingsFile(path: "\(folder)/\(file)") else { return nil }
            return Camera(name: String(file.dropLast(ending.count)), settings: settings)
        }
        let advice = "add listen = unix:/run/camrec/NAME/live,mode=660 to \(folder)/NAME.conf"
        let found = files.isEmpty ? "none yet" : "none of the \(files.count) settings offers a raw stream"
        return Found(cameras: cameras, emptiness: "\(found); \(advice)")
    }
}

extension Camera {
    /// The folder with the working folders of the services; relative paths in settings begin there.
    private static let stateFolder = "/var/lib/camrec"

    /// Creates the camera of a recorder from its settings; nil if the recorder serves no raw stream.
    init?(name: String, settings: SettingsFile) {
        let stateFolder = "\(Self.stateFolder)/\(name)"
        func values(_ key: String) -> [String] { settings.entries.filter { $0.key == key }.map(\.value) }
        // Browsers decode raw streams only.
        guard values("stream-format").allSatisfy({ $0 == "raw" }) else { return nil }
        func absolute(_ path: String) -> String {
            path.hasPrefix("/") ? path : "\(stateFolder)/\(path)"
        }
        func preferred(_ places: [OutputText]) -> CameraAddress? {
            CameraAddress(preferredAmong: places.compactMap { ListeningAddress($0.name) }, absolute)
        }
        let control = values("control-socket").last.flatMap { SocketFile($0) }.map { absolute($0.path) }
        // A stream of the whole pictures comes before others.
        let places = values("listen").map(OutputText.init)
        let whole = preferred(places.filter(\.properties.isEmpty))
        guard let address = whole ?? preferred(places) else { return nil }
        self.init(name: name, address: address, control: control)
        let small = preferred(OutputText.smallest(of: places))
        smallAddress = small == address ? nil : small
        recordings = RecordingsPlace(settings, stateFolder: stateFolder)
    }
}

extension OutputText {
    /// The renditions with the smallest pictures, without those of a codec of their own, which a browser may not play.
    fileprivate static func smallest(of places: [OutputText]) -> [OutputText] {
        func size(_ place: OutputText) -> Int? {
            guard !place.properties.contains(where: { $0.key == .codec }) else { return nil }
            let sides = place.properties.last { $0.key == .size }?.value.split(separator: "x").compactMap {
                Int($0)
            }
            guard let sides, sides.count == 2 else { return nil }
            return sides[0].multipliedReportingOverflow(by: sides[1]).partialValue
        }
        let smallest = places.compactMap(size).min()
        return places.filter { size($0) == smallest && smallest != nil }
    }
}

extension CameraAddress {
    /// Chooses among the places where a recorder listens: a local socket comes before a port, which another program
    /// can take. Nil if none can be connected to.
    /// - Parameter absolute: returns the absolute form of a path.
    fileprivate init?(preferredAmong places: [ListeningAddress], _ absolute: (String) -> String) {
        switch places.first(where: { if case .path = $0 { true } else { false } }) ?? places.first {
        case .path(let path, _): self = .path(absolute(path))
        case .tcp(let address) where address.port != 0:
            self = .tcp(SocketAddress(host: address.reachableHost, port: address.port))
        case .tcp, nil: return nil
        }
    }
}

extension SocketAddress {
    /// The host to connect to on this machine, also if the recorder listens on all addresses.
    fileprivate var reachableHost: String { ["0.0.0.0", "::"].contains(host) ? Self.defaultHost : host }
}
