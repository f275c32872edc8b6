import Files
import Glibc

/// A file that has no name until it is complete: however the writing ends, nothing is left behind.
final class StagedFile {
    /// Open for reading and writing; outlives this object.
    let descriptor: Int32
    private let location: FileLocation
    /// Used if the file system cannot create files without names; nil once there is nothing to remove.
    private var temporaryName: [CChar]?

    /// Creates a file that will get the name of a location.
    /// - Parameter former: the file to replace, whose owner and mode it gets, as far as the system allows.
    init(at location: FileLocation, replacing former: stat? = nil) throws(OutputError.Kind) {
        self.location = location
        let unnamed = location.openUnnamed(mode: 0o644)
        if unnamed >= 0 {
            descriptor = unnamed
        } else {
            guard [EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(errno) else {
                throw .notCreated(errno: errno)
            }
            let name = Self.newTemporaryName
            descriptor = openat(
                location.folder, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o644)
            guard descriptor >= 0 else { throw .notCreated(errno: errno) }
            temporaryName = name
        }
        if let former { Self.give(descriptor, theOwnerOf: former) }
    }

    deinit { removeTemporaryName() }

    /// Gives the file its name, after its content is on the disk.
    /// - Parameter overwrite: whether to replace a file that already has the name.
    func publish(overwrite: Bool) throws(OutputError.Kind) {
        guard fdatasync(descriptor) == 0 || errno == EINVAL else { throw .init(writeFailed: errno) }
        let folder = location.folder
        if overwrite {
            let name = temporaryName ?? Self.newTemporaryName
            if temporaryName == nil, !link(as: name) { throw .notCreated(errno: errno) }
            temporaryName = name
            guard renameat(folder, name, folder, location.name) == 0 else { throw .notCreated(errno: errno) }
            temporaryName = nil
        } else {
            guard link(as: location.name) else {
                throw errno == EEXIST ? .exists : .notCreated(errno: errno)
            }
            removeTemporaryName()
        }
    }

    private func link(as name: [CChar]) -> Bool {
        if let temporaryName {
            return linkat(location.folder, temporaryName, location.folder, name, 0) == 0
        }
        // The unprivileged way (open(2), O_TMPFILE).
        return linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", location.folder, name, AT_SYMLINK_FOLLOW) == 0
    }

    private func removeTemporaryName() {
        guard let name = temporaryName.take() else { return }
        unlinkat(location.folder, name, 0)
    }

    /// Unpredictable, so that nobody can put something there in advance.
    private static var newTemporaryName: [CChar] {
        Array(".camrec-\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).part".utf8CString)
    }

    /// A file that only its owner may read must not become readable for others because its owner cannot be
    /// set.
    private static func give(_ descriptor: Int32, theOwnerOf former: stat) {
        let isOwners = fchown(descriptor, former.st_uid, former.st_gid) == 0
        fchmod(descriptor, former.st_mode & (isOwners ? 0o777 : 0o700))
    }
}
