import Glibc

/// Folders by their paths.
public enum Folder {
    /// The names in it, in no particular order; empty if the folder cannot be read.
    public static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    /// Whether a path leads to a folder; links are followed.
    public static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The folder that contains a file, by its path.
    public static func of(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path from the root, without links and dots if the folder exists. Nil for a relative path if the
    /// working folder is gone, or no longer mounted.
    public static func absolute(_ path: String) -> String? {
        if let real = realpath(path, nil) {
            defer { free(real) }
            return String(cString: real)
        }
        if path.hasPrefix("/") { return path }
        return path == "." ? nil : absolute(".").map { $0 + "/" + path }
    }

    /// Creates a folder and its missing parents. Other users' links are not followed.
    public static func make(_ path: String) throws(FileLocation.Failure) {
        _ = try FileLocation(path + "/", makesFolders: true)
    }
}

// MARK: - File systems

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

// MARK: - Saturating arithmetic

extension Int {
    /// The sum of two numbers that are not negative, or the largest Int: file systems and files may report anything.
    public func addingSaturated(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }

    /// The product of two numbers that are not negative, or the largest Int.
    public func multipliedSaturated(by other: Int) -> Int {
        let (product, isTooLarge) = multipliedReportingOverflow(by: other)
        return isTooLarge ? .max : product
    }
}
