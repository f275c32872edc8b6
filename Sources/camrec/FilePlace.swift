import Files
import Output

/// Where a path leads, so that two paths to one file are told, be it there or not.
enum FilePlace: Hashable {
    case file(FileIdentity)
    /// A name that nothing has, in a folder.
    case vacant(folder: FileIdentity, name: String)
    /// A path whose folder is not there, without what changes nothing in it.
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
