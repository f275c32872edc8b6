import CFiles
import Glibc

/// A file's place: its folder, open, and its name in there. Whoever puts another folder or a link into the path
/// afterwards changes nothing.
///
/// Links are followed one by one. In a folder that others can write to, only those of its owner, of root and of this
/// process's user are: anybody could have put one there (as the kernel's fs.protected_symlinks has it, for sticky
/// folders alone).
public final class FileLocation {
    /// Opened with O_PATH.
    public private(set) var folder: Int32
    /// Without slashes.
    public private(set) var name = ""
    private var linkCount = 0

    /// Why a path leads nowhere.
    public struct Failure: Error, Sendable, Equatable {
        public let errno: Int32
        /// A link that is not followed because of who made it.
        public var link: String?
    }

    private static let mostLinks = 40

    /// Goes to the folder of a path; the file itself need not exist, and is not followed where it is a link.
    public init(_ path: String) throws(Failure) {
        folder = files_open_path(AT_FDCWD, ".", O_DIRECTORY)
        guard folder >= 0 || path.hasPrefix("/") else { throw Failure(errno: Glibc.errno) }
        try walk(path)
    }

    deinit { if folder >= 0 { close(folder) } }

    /// Goes to where the name leads, if it is a link.
    public func followLink() throws(Failure) {
        while let target = try target(of: name) { try walk(target) }
    }

    /// Opens the file (openat(2)); a link in its place is an error, ELOOP.
    public func open(_ flags: Int32, mode: mode_t = 0) -> Int32 {
        openat(folder, name, flags | O_CLOEXEC | noFollow, mode)
    }

    /// What is there; nil where nothing is. Links are not followed.
    public var status: stat? {
        var status = stat()
        return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Removes the name.
    public func unlink() { _ = unlinkat(folder, name, 0) }

    private func walk(_ path: String) throws(Failure) {
        var pending = Self.parts(of: path)
        if path.hasPrefix("/") { try enter("/") }
        // Behind a slash there can be a folder only.
        name = path.hasSuffix("/") ? "." : pending.removeFirst()
        while let part = pending.popLast() {
            guard let target = try target(of: part) else {
                try enter(part)
                continue
            }
            if target.hasPrefix("/") { try enter("/") }
            pending += Self.parts(of: target)
        }
    }

    /// The last one first.
    private static func parts(of path: String) -> [String] {
        path.split(separator: "/").reversed().map(String.init)
    }

    private func enter(_ part: String) throws(Failure) {
        let next = files_open_path(folder, part, O_DIRECTORY | noFollow)
        guard next >= 0 else { throw Failure(errno: errno) }
        if folder >= 0 { close(folder) }
        folder = next
    }

    /// Where a link leads; nil for anything else.
    private func target(of part: String) throws(Failure) -> String? {
        guard !isProcess else { return nil }
        let link = files_open_path(folder, part, O_NOFOLLOW)
        // Opening the file reports the reason.
        guard link >= 0 else { return nil }
        defer { close(link) }
        var status = stat()
        guard fstat(link, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
        guard isTrusted(status) else { throw Failure(errno: ELOOP, link: part) }
        linkCount += 1
        guard linkCount <= Self.mostLinks else { throw Failure(errno: ELOOP) }
        let capacity = Int(PATH_MAX)
        let target = withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            let count = readlinkat(link, "", start, capacity)
            return String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        guard !target.isEmpty else { throw Failure(errno: ENOENT) }
        return target
    }

    private func isTrusted(_ link: stat) -> Bool {
        var status = stat()
        guard fstat(folder, &status) == 0 else { return false }
        return status.st_mode & (S_IWGRP | S_IWOTH) == 0
            || [0, geteuid(), status.st_uid].contains(link.st_uid)
    }

    /// The links in /proc are no paths: the kernel alone can follow them.
    private var isProcess: Bool { files_is_process_folder(folder) != 0 }

    private var noFollow: Int32 { isProcess ? 0 : O_NOFOLLOW }
}
