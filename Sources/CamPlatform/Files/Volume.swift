import Glibc

/// The file system that a folder is on.
public struct Volume: Sendable {
    /// The folder, which may disappear and return.
    public let folder: String
    /// The file system that becomes visible if this one is no longer mounted; nil for the root.
    private let underlying: dev_t?

    /// - Parameter folder: an existing folder.
    public init(folder: String) {
        self.folder = folder
        let device = Self.device(of: folder)
        var parent = Folder.absolute(folder) ?? folder
        while Self.device(of: parent) == device, parent != Folder.of(parent) { parent = Folder.of(parent) }
        let found = Self.device(of: parent)
        underlying = found == device ? nil : found
    }

    /// Whether it is no longer mounted: data written to its folder now goes to another disk.
    public var isGone: Bool {
        guard let underlying else { return false }
        guard var path = Folder.absolute(folder) else { return true }
        while Self.device(of: path) == nil, path != "/" { path = Folder.of(path) }
        return Self.device(of: path) == underlying
    }

    /// Its size and the room left for a user, in bytes; nil if unknown.
    public var space: (total: Int, free: Int)? { Self.space(of: folder) }

    /// The size of a folder's file system and the room left there for a user, in bytes; nil if unknown.
    public static func space(of folder: String) -> (total: Int, free: Int)? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        let unit = Int(clamping: status.f_frsize)
        return (
            Int(clamping: status.f_blocks).multipliedSaturated(by: unit),
            Int(clamping: status.f_bavail).multipliedSaturated(by: unit)
        )
    }

    private static func device(of path: String) -> dev_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_dev : nil
    }
}
