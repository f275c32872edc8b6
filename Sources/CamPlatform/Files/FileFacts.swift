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
    /// Its number in its file system, which a later file can have once this one is removed.
    public let inode: UInt64
    /// When it was last written.
    public let modification: WallTime

    /// Nil if there is nothing under this name, or that cannot be determined; errno says which.
    /// - Parameter folder: an open folder at which a relative path begins; by default the working folder.
    public init?(path: String, in folder: Int32 = AT_FDCWD) {
        var facts = files_facts()
        guard files_read_facts(folder, path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    /// Nil if it cannot be determined.
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
