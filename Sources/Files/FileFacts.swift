import CSystem
import Glibc
import Time

/// Facts about a file, open or not; links are not followed.
public struct FileFacts: Sendable, Hashable {
    /// Neither a folder nor a link nor anything else that is not a plain file.
    public let isRegular: Bool
    /// Bytes.
    public let size: Int
    /// When it was created; nil if the file system does not know. A file that takes another's place under its name has
    /// another time (statx(2), stx_btime).
    public let birth: WallTime?
    /// When it was written last.
    public let modification: WallTime

    /// Nil if there is nothing under this name, or it cannot be told; errno says which.
    /// - Parameter folder: an open folder that a relative path begins at; the working folder unless given.
    public init?(path: String, in folder: Int32 = AT_FDCWD) {
        var facts = files_facts()
        guard files_read_facts(folder, path, &facts) == 0 else { return nil }
        isRegular = facts.mode & S_IFMT == S_IFREG
        size = Int(facts.size)
        birth = facts.birth > 0 ? WallTime(nanoseconds: facts.birth) : nil
        modification = WallTime(nanoseconds: facts.modification)
    }
}
