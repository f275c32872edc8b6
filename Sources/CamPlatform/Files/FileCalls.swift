import CLinux
import Glibc

/// The system calls that some file systems do not support, or answer less fully than others. Tests replace them.
package struct FileCalls: Sendable {
    /// Takes an open file's lock for this process alone, without waiting (flock(2)). Returns 0, or errno.
    package var lock: @Sendable (_ descriptor: Int32) -> Int32 = {
        flock($0, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
    }
    /// What a file system says about a name in an open folder; nil with errno.
    package var facts: @Sendable (_ folder: Int32, _ name: String) -> FileFacts? = {
        FileFacts(path: $1, in: $0)
    }
    /// Creates a file without a name in an open folder (O_TMPFILE). Returns its descriptor, or -1 with errno.
    package var openUnnamed: @Sendable (_ folder: Int32, _ mode: mode_t) -> Int32 = {
        files_open_unnamed($0, $1)
    }
    /// Gives a file in an open folder a second name there (linkat(2)). Returns 0, or errno.
    package var link: @Sendable (_ folder: Int32, _ from: [CChar], _ to: [CChar]) -> Int32 = {
        linkat($0, $1, $0, $2, 0) == 0 ? 0 : errno
    }
    /// Gives an open file without a name one in an open folder (open(2), O_TMPFILE). Returns 0, or errno.
    package var linkUnnamed: @Sendable (_ descriptor: Int32, _ folder: Int32, _ name: [CChar]) -> Int32 = {
        linkat(AT_FDCWD, "/proc/self/fd/\($0)", $1, $2, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno
    }
    /// Renames a file in an open folder unless something has the new name (renameat2(2)). Returns 0, or errno.
    package var renameNew: @Sendable (_ folder: Int32, _ from: [CChar], _ to: [CChar]) -> Int32 = {
        files_rename_new($0, $1, $2) == 0 ? 0 : errno
    }

    /// The system's own.
    package init() {}
}
