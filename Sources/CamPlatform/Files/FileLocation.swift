import CLinux
import Glibc

/// A file's location: its open folder, and its name in that folder. Replacing a folder or link in the path
/// afterwards has no effect.
///
/// Links are followed one by one. In a folder that others can write to, only links of its owner, root or this
/// process's user are followed, because anyone could have put one there (the kernel's fs.protected_symlinks
/// does this only for sticky folders).
public final class FileLocation {
    /// Opened with O_PATH.
    public private(set) var folder: Int32
    /// Without slashes, and zero-terminated. Links need not lead to UTF-8.
    public private(set) var name: [CChar] = [0]
    private let makesFolders: Bool
    private var linkCount = 0

    /// Why a path cannot be followed.
    public struct Failure: Error, Sendable, Equatable {
        public let errno: Int32
        /// A link that is not followed because of its owner.
        public var link: String?

        /// A failed system call.
        package init(errno: Int32, link: String? = nil) { (self.errno, self.link) = (errno, link) }

        /// Whether there is nothing of that name, as opposed to a disk that cannot be read. A link that is not
        /// followed does not mean that its target is gone.
        public var isAbsence: Bool { link == nil && [ENOENT, ENOTDIR, ELOOP].contains(errno) }
    }

    private static let mostLinks = 40

    /// Opens the folder of a path; the file itself need not exist, and is not followed if it is a link.
    /// - Parameter makesFolders: whether missing folders on the way are created.
    public init(_ path: String, makesFolders: Bool = false) throws(Failure) {
        self.makesFolders = makesFolders
        folder = files_open_path(AT_FDCWD, ".", O_DIRECTORY)
        guard folder >= 0 || path.hasPrefix("/") else { throw Failure(errno: -folder) }
        try walk(path.utf8CString.dropLast())
    }

    deinit { if folder >= 0 { close(folder) } }

    /// Follows the name if it is a link.
    public func followLink() throws(Failure) {
        while let target = try target(of: name) { try walk(target) }
    }

    /// Opens the file (openat(2)); a link in its place is an error, ELOOP.
    /// - Returns: its descriptor, or -errno.
    public func open(_ flags: Int32, mode: mode_t = 0) -> Int32 {
        let descriptor = openat(folder, name, flags | O_CLOEXEC | noFollow, mode)
        return descriptor >= 0 ? descriptor : -errno
    }

    /// Opens the location without opening what is there (O_PATH); if it is a link, opens the link itself.
    /// - Returns: its descriptor, or -errno.
    public func openPath() -> Int32 { files_open_path(folder, name, O_NOFOLLOW) }

    /// Creates a file without a name in the folder, for reading and writing.
    /// - Returns: its descriptor, or -errno.
    public func openUnnamed(mode: mode_t) -> Int32 { files_open_unnamed(folder, mode) }

    /// The folder's path from the root; nil if it cannot be determined.
    public var folderPath: String? { Folder.absolute("/proc/self/fd/\(folder)") }

    /// The status of the entry; nil if the name does not exist. Links are not followed.
    public var status: stat? {
        var status = stat()
        return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Removes the name.
    public func unlink() { _ = unlinkat(folder, name, 0) }

    /// Whether no untrusted user can have put the entry here: only the owner can write to the folder, or the
    /// entry belongs to that owner, to root or to this process's user.
    public func isTrusted(_ status: stat) -> Bool {
        var parent = stat()
        guard fstat(folder, &parent) == 0 else { return false }
        return parent.st_mode & (S_IWGRP | S_IWOTH) == 0
            || [0, geteuid(), parent.st_uid].contains(status.st_uid)
    }

    private func walk(_ path: ArraySlice<CChar>) throws(Failure) {
        var pending = Self.parts(of: path)
        if path.first == Self.slash { try enter([Self.slash, 0]) }
        // Only a folder can precede a trailing slash.
        if path.last == Self.slash { pending.insert([Self.dot, 0], at: 0) }
        guard !pending.isEmpty else { throw Failure(errno: ENOENT) }
        name = pending.removeFirst()
        while let part = pending.popLast() {
            guard let target = try target(of: part) else {
                try enter(part)
                continue
            }
            if target.first == Self.slash { try enter([Self.slash, 0]) }
            pending += Self.parts(of: target)
        }
    }

    private static let slash = CChar(truncatingIfNeeded: UInt8(ascii: "/"))
    private static let dot = CChar(truncatingIfNeeded: UInt8(ascii: "."))

    /// In reverse order, each zero-terminated.
    private static func parts(of path: ArraySlice<CChar>) -> [[CChar]] {
        path.split(separator: slash).reversed().map { $0 + [0] }
    }

    private func enter(_ part: [CChar]) throws(Failure) {
        var next = files_open_path(folder, part, O_DIRECTORY | noFollow)
        if next == -ENOENT, makesFolders {
            guard mkdirat(folder, part, 0o755) == 0 || errno == EEXIST else { throw Failure(errno: errno) }
            next = files_open_path(folder, part, O_DIRECTORY | noFollow)
        }
        guard next >= 0 else { throw Failure(errno: -next) }
        if folder >= 0 { close(folder) }
        folder = next
    }

    /// Where a link leads; nil for anything else.
    private func target(of part: [CChar]) throws(Failure) -> ArraySlice<CChar>? {
        guard !isProcess else { return nil }
        let link = files_open_path(folder, part, O_NOFOLLOW)
        // Opening the file reports the reason.
        guard link >= 0 else { return nil }
        defer { close(link) }
        var status = stat()
        guard fstat(link, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
        guard isTrusted(status) else { throw Failure(errno: ELOOP, link: Self.text(part)) }
        linkCount += 1
        guard linkCount <= Self.mostLinks else { throw Failure(errno: ELOOP) }
        let target = [CChar](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            count = max(0, readlinkat(link, "", start, buffer.count))
        }
        guard !target.isEmpty else { throw Failure(errno: ENOENT) }
        return target[...]
    }

    private static func text(_ part: [CChar]) -> String {
        String(decoding: part.dropLast().map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
    }

    /// The links in /proc are not paths: only the kernel can follow them.
    private var isProcess: Bool { files_is_process_folder(folder) }

    private var noFollow: Int32 { isProcess ? 0 : O_NOFOLLOW }
}

// MARK: - System calls that tests replace

/// The system calls that some file systems do not support, or answer less fully than others. Tests replace them.
package struct FileCalls: Sendable {
    /// Takes an exclusive lock on an open file, without waiting (flock(2)). Returns 0, or errno.
    package var lock: @Sendable (_ descriptor: Int32) -> Int32 = {
        flock($0, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
    }
    /// Reads the facts about a name in an open folder.
    package var facts: @Sendable (_ folder: Int32, _ name: String) throws(FileLocation.Failure) -> FileFacts =
        {
            (folder, name) throws(FileLocation.Failure) in try FileFacts.read(name, in: folder)
        }
    /// Creates a file without a name in an open folder (O_TMPFILE). Returns its descriptor, or -errno.
    package var openUnnamed: @Sendable (_ folder: Int32, _ mode: mode_t) -> Int32 = {
        files_open_unnamed($0, $1)
    }
    /// Gives a file a second name in the same open folder (linkat(2)). Returns 0, or errno.
    package var link: @Sendable (_ folder: Int32, _ from: [CChar], _ to: [CChar]) -> Int32 = {
        linkat($0, $1, $0, $2, 0) == 0 ? 0 : errno
    }
    /// Gives an open file without a name one in an open folder (open(2), O_TMPFILE). Returns 0, or errno.
    package var linkUnnamed: @Sendable (_ descriptor: Int32, _ folder: Int32, _ name: [CChar]) -> Int32 = {
        linkat(AT_FDCWD, "/proc/self/fd/\($0)", $1, $2, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno
    }
    /// Renames a file in an open folder unless something has the new name (renameat2(2)). Returns 0, or errno.
    package var renameNew: @Sendable (_ folder: Int32, _ from: [CChar], _ to: [CChar]) -> Int32 = {
        -files_rename_new($0, $1, $2)
    }

    /// The system's calls.
    package init() {}
}

// MARK: - Locks

/// A lock that keeps two writers from destroying each other's file.
public enum WriteLock {
    /// Locks an open file for writing, until the descriptor is closed. Only a process that can write the file can hold
    /// this lock, so a reader cannot block a writer.
    /// - Parameter descriptor: open for writing.
    /// - Returns: false if another writer holds the lock; true also if the file system does not support locks.
    public static func acquire(_ descriptor: Int32) -> Bool { files_lock_for_writing(descriptor) }

    /// Whether a writer holds the lock of an open file.
    /// - Parameter descriptor: not the descriptor that the writer uses.
    public static func isHeld(_ descriptor: Int32) -> Bool { files_is_locked_for_writing(descriptor) }
}
