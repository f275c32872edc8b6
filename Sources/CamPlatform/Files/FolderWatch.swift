import CLinux
import Glibc

/// Reports changes of the entries of folders (inotify(7)). Used by one thread.
package final class FolderWatch {
    /// Readable when there are changes.
    package let descriptor: Int32
    private var paths: [Int32: [String]] = [:]
    /// Whether changes may be missing: a folder cannot be watched, or is on a file system that other machines change.
    package private(set) var isBlind = false

    /// A change of an entry.
    package enum Change {
        /// The entry appeared, changed or is gone.
        case entry([String])
        /// An entry whose name is not UTF-8 appeared, changed or is gone; `folder` is the path of its folder.
        case foreignEntry(folder: [String], name: [UInt8])
        /// There were more changes than the system keeps.
        case overflow
    }

    private static let mask =
        UInt32(IN_CREATE) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE)
        | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO) | UInt32(IN_ONLYDIR) | UInt32(IN_EXCL_UNLINK)
    /// Network file systems report no changes of other machines: NFS, SMB 1 and 2, FUSE, 9P, Ceph.
    private static let foreign: Set<UInt32> = [
        0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400,
    ]

    /// Nil, with errno set, if the system allows no more.
    package init?() {
        descriptor = inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Watches an open folder; `path` is part of its changes.
    package func add(_ folder: Int32, at path: [String]) {
        if Self.foreign.contains(files_system_type(folder)) { isBlind = true }
        // The descriptor names the folder even if another one has its path now.
        let watch = inotify_add_watch(descriptor, "/proc/self/fd/\(folder)", Self.mask)
        if watch >= 0 { paths[watch] = path } else { isBlind = true }
    }

    /// Calls `body` with the changes so far.
    package func read(_ body: (Change) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                var offset = 0
                while offset < count {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let name = offset + MemoryLayout<inotify_event>.size
                    offset = name + Int(event.len)
                    if let change = change(event, buffer[name..<offset]) { body(change) }
                }
            }
        }
    }

    private func change(_ event: inotify_event, _ name: Slice<UnsafeMutableRawBufferPointer>) -> Change? {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return .overflow }
        if event.mask & UInt32(IN_IGNORED) != 0 { paths[event.wd] = nil }
        guard event.len > 0, let folder = paths[event.wd] else { return nil }
        let bytes = name.prefix { $0 != 0 }
        guard let name = String(validating: bytes, as: UTF8.self) else {
            return .foreignEntry(folder: folder, name: Array(bytes))
        }
        return .entry(folder + [name])
    }
}
