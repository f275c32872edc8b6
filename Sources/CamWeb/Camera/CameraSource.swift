import CamPlatform
import CamNetworking

/// Where a server's cameras come from.
public enum CameraSource: Sendable {
    /// These and no others.
    case given([Camera])
    /// The recorders' settings in a folder, `NAME.conf` each: those that listen.
    case settings(folder: String)

    /// The cameras there are now, in the order of the page. Reads the folder.
    func cameras() -> [Camera] {
        switch self {
        case .given(let cameras): cameras
        case .settings(let folder): Self.cameras(in: folder)
        }
    }

    private static let ending = ".conf"
    /// More than any machine records.
    private static let mostCameras = 256

    private static func cameras(in folder: String) -> [Camera] {
        let files = Folder.names(in: folder).filter { $0.hasSuffix(ending) && !$0.hasPrefix(".") }.sorted()
        return files.prefix(mostCameras).compactMap { file in
            // A file that cannot be read, or is wrong, is camrec's to report.
            guard let settings = try? SettingsFile(path: "\(folder)/\(file)") else { return nil }
            return Camera(name: String(file.dropLast(ending.count)), settings: settings)
        }
    }
}

extension Camera {
    /// The services' folders of recordings, which relative paths in their settings begin at.
    private static let stateFolder = "/var/lib/camrec"

    /// The camera of a recorder's settings; nil if it serves no raw stream.
    init?(name: String, settings: SettingsFile) {
        let stateFolder = "\(Self.stateFolder)/\(name)"
        func values(_ key: String) -> [String] { settings.entries.filter { $0.key == key }.map(\.value) }
        // What a browser can decode is in no container.
        guard values("stream-format").allSatisfy({ $0 == "raw" }) else { return nil }
        let addresses = values("listen").compactMap { ListeningAddress($0) }
        // A local socket has no port that another program could take.
        let chosen = addresses.first { if case .path = $0 { true } else { false } } ?? addresses.first
        func absolute(_ path: String) -> String {
            path.hasPrefix("/") ? path : "\(stateFolder)/\(path)"
        }
        let control = values("control-socket").last.flatMap { SocketFile($0) }.map { absolute($0.path) }
        switch chosen {
        case .path(let path, _): self.init(name: name, address: .path(absolute(path)), control: control)
        case .tcp(let address) where address.port != 0:
            let reachable = SocketAddress(host: address.reachableHost, port: address.port)
            self.init(name: name, address: .tcp(reachable), control: control)
        case .tcp, nil: return nil
        }
        recordings = RecordingsPlace(settings, stateFolder: stateFolder)
    }
}

extension SocketAddress {
    /// The host to connect to on this machine: a recorder may listen on all of its addresses.
    fileprivate var reachableHost: String { ["0.0.0.0", "::"].contains(host) ? Self.defaultHost : host }
}
