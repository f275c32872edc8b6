import CLinux
import Glibc

/// Facts about a file, open or not; links are not followed.
public struct FileFacts: Sendable, Hashable {
    /// Whether it is a regular file, not a folder, a link or anything else.
    public let isRegular: Bool
    /// Bytes.
    public let size: Int
    /// When it was created; nil if the file system does not know. A file that replaces another under its name
    /// has a different time (statx(2), stx_btime).
    public package(set) var birth: WallTime?
    /// The inode number. A later file can reuse it once this file is removed.
    public let inode: UInt64
    /// When it was last written.
    public package(set) var modification: WallTime

    /// Nil if the name does not exist or the facts cannot be read.
    public init?(path: String) {
        guard let facts = try? Self.read(path) else { return nil }
        self = facts
    }

    /// Reads the facts about a name.
    /// - Parameter folder: an open folder at which a relative path begins; by default the working folder.
    public static func read(
        _ path: String, in folder: Int32 = AT_FDCWD
    ) throws(FileLocation.Failure) -> FileFacts {
        var facts = files_facts()
        let result = files_read_facts(folder, path, &facts)
        guard result == 0 else { throw FileLocation.Failure(errno: -result) }
        return FileFacts(facts)
    }

    /// Nil if the facts cannot be read.
    /// - Parameter descriptor: an open file.
    public init?(descriptor: Int32) {
        var facts = files_facts()
        guard files_read_facts(descriptor, "", &facts) == 0 else { return nil }
        self.init(facts)
    }

    private init(_ facts: files_facts) {
        isRegular = facts.mode & S_IFMT == S_IFREG
        size = Int(facts.size)
        inode = facts.inode
        birth = facts.birth > 0 ? WallTime(nanoseconds: facts.birth) : nil
        modification = WallTime(nanoseconds: facts.modification)
    }
}

// MARK: - Identity

/// Identifies a file, under any name.
public struct FileIdentity: Hashable, Sendable {
    package let device: dev_t
    package let inode: ino_t

    package init(device: dev_t, inode: ino_t) { (self.device, self.inode) = (device, inode) }

    /// The file that a path leads to; nil if there is none.
    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }

    /// An open file; nil if the descriptor is closed.
    public init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }

    /// Creates the identity from stat(2)'s result.
    public init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }

    /// Whether a path leads to a regular file; nil if there is nothing.
    public static func isFile(_ path: String) -> Bool? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT == S_IFREG : nil
    }
}

// MARK: - Device nodes

/// What the file system says about a device node.
public enum DeviceNode {
    /// The group to join for access: the node's owning group, if it may read
    /// and write the node; otherwise nil.
    public static func owningGroup(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o060 == 0o060 else { return nil }
        var entry = group()
        var result: UnsafeMutablePointer<group>?
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer -> String? in
            let bytes = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            guard getgrgid_r(status.st_gid, &entry, bytes, buffer.count, &result) == 0, result != nil else {
                return nil
            }
            return String(cString: entry.gr_name)
        }
    }

    /// Whether `path` names a character device; nil if nothing is there.
    public static func isCharacterDevice(_ path: String) -> Bool? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFCHR
    }
}

// MARK: - The program's own file

/// The file that a running program was started from. An upgrade may replace the file while the program runs.
public struct ProgramFile: Sendable {
    private let path: String
    private let identity: FileIdentity

    /// Reads the link once. Nil if the link leads nowhere.
    /// - Parameter link: a link to the program's file.
    public init?(link: String = "/proc/self/exe") {
        guard let identity = FileIdentity(path: link), let path = Self.path(of: link) else { return nil }
        (self.path, self.identity) = (path, identity)
    }

    /// If the file was replaced before its link is read, the kernel appends a
    /// remark to the old path (proc(5)).
    private static func path(of link: String) -> String? {
        if let path = realpath(link, nil) {
            defer { free(path) }
            return String(cString: path)
        }
        let target = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            let count = buffer.baseAddress.map { readlink(link, $0, buffer.count) } ?? -1
            return String(
                decoding: buffer.prefix(max(0, count)).map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
        }
        let remark = " (deleted)"
        return target.hasSuffix(remark) ? String(target.dropLast(remark.count)) : nil
    }

    /// Whether the path now leads to another file. A file that was only removed does not count as replaced.
    public var isReplaced: Bool {
        FileIdentity(path: path).map { $0 != identity } ?? false
    }
}
