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

    /// The system's own.
    package init() {}
}
