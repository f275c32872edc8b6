import CLinux

/// A lock that keeps two writers from destroying each other's file.
public enum WriteLock {
    /// Locks an open file for writing, until the descriptor is closed. Only a process that can write the file can hold
    /// this lock, so a reader cannot block a writer.
    /// - Parameter descriptor: open for writing.
    /// - Returns: false if another writer holds the lock; true also if the file system does not support locks.
    public static func acquire(_ descriptor: Int32) -> Bool { files_lock_for_writing(descriptor) != 0 }

    /// Whether a writer holds the lock of an open file.
    /// - Parameter descriptor: another one than the writer's.
    public static func isHeld(_ descriptor: Int32) -> Bool { files_is_locked_for_writing(descriptor) != 0 }
}
