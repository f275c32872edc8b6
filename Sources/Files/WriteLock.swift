import CFiles

/// The lock of whoever writes a file.
public enum WriteLock {
    /// Takes it for as long as the file is open: two who write one file would destroy each other's. Only who may write
    /// the file can have it.
    /// - Parameter descriptor: open for writing.
    /// - Returns: true where another has it; not where the file system knows no locks.
    public static func isTakenElsewhere(_ descriptor: Int32) -> Bool {
        files_is_locked_elsewhere(descriptor) != 0
    }
}
