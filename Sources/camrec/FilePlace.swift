import CamPlatform
import Output

/// The place that a path leads to, so that two paths to one file compare equal, whether it exists or not.
enum FilePlace: Hashable {
    case file(FileIdentity)
    /// An unused name in a folder.
    case vacant(folder: FileIdentity, name: String)
    /// A path in a missing folder, without components that change nothing.
    case unreachable([Substring])

    init(_ path: String) {
        let parts = path.split(separator: "/").filter { $0 != "." }
        if let identity = FileIdentity(path: path) {
            self = .file(identity)
        } else if let identity = FileIdentity(path: Folder.of(path)), let name = parts.last {
            self = .vacant(folder: identity, name: String(name))
        } else {
            self = .unreachable((path.hasPrefix("/") ? ["/"] : []) + parts)
        }
    }
}
