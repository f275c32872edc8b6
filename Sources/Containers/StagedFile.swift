import CFFmpeg
import CamPlatform
import Glibc

/// A file that has no name until it is complete: however the writing ends, nothing is left behind.
///
/// Not every file system supports files without names, links, or renaming without replacement. If one of them
/// is missing, the next best method takes its place.
final class StagedFile {
    /// Open for reading and writing. The owner of the staged file closes it.
    let descriptor: Int32
    private let location: FileLocation
    private let calls: FileCalls
    /// The temporary name, if the file system cannot create files without names or cannot name them later;
    /// nil once there is nothing to remove.
    private var temporaryName: [CChar]?

    private static let creation = O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW

    /// Creates a file that will get the name of a location.
    /// - Parameter former: the file to replace, whose owner and mode it gets, as far as the system allows.
    init(
        at location: FileLocation, replacing former: stat? = nil, calls: FileCalls = FileCalls()
    ) throws(OutputError.Kind) {
        (self.location, self.calls) = (location, calls)
        let unnamed = calls.openUnnamed(location.folder, 0o644)
        if unnamed >= 0 {
            descriptor = unnamed
        } else {
            guard Self.meansNoUnnamedFiles(-unnamed) else { throw .notCreated(errno: -unnamed) }
            let name = Self.newTemporaryName
            descriptor = openat(location.folder, name, Self.creation, 0o644)
            guard descriptor >= 0 else { throw .notCreated(errno: errno) }
            temporaryName = name
        }
        if let former { Self.give(descriptor, theOwnerOf: former) }
    }

    deinit { removeTemporaryName() }

    /// Gives the file its name, after its content is on the disk.
    /// - Parameter overwrite: whether to replace a file that already has the name.
    /// - Throws: `notPublished` if the file is complete and has another name now; `lost` if it is complete, but never
    ///   had a name.
    func publish(overwrite: Bool) throws(OutputError.Kind) {
        guard fdatasync(descriptor) == 0 || errno == EINVAL else { throw .init(writeFailed: errno) }
        if temporaryName == nil {
            let name = overwrite ? Self.newTemporaryName : location.name
            let code = calls.linkUnnamed(descriptor, location.folder, name)
            // ENOENT: /proc, through which it gets its name, is not mounted.
            if Self.isUnsupported(code) || code == ENOENT {
                try copy()
            } else {
                guard code != EEXIST else { throw .exists }
                guard code == 0 else { throw .lost(because: .notCreated(errno: code)) }
                if !overwrite { return }
                temporaryName = name
            }
        }
        guard let name = temporaryName else { return }
        let code = overwrite ? replace(by: name) : rename(name)
        guard code != EEXIST else { throw .exists }
        // From here on the temporary name is renamed, removed, or kept for good.
        temporaryName = nil
        guard code == 0 else { throw .notPublished(errno: code, keptAs: path(of: name)) }
    }

    /// Whether an error code means that the file system does not support the
    /// method, so another one may succeed.
    private static func isUnsupported(_ code: Int32) -> Bool {
        [EINVAL, ENOSYS, EPERM, EOPNOTSUPP].contains(code)
    }

    /// Whether an error code of O_TMPFILE means that the file system has no files without names.
    fileprivate static func meansNoUnnamedFiles(_ code: Int32) -> Bool {
        isUnsupported(code) || [EISDIR, ENOENT].contains(code)
    }

    private func replace(by name: [CChar]) -> Int32 {
        renameat(location.folder, name, location.folder, location.name) == 0 ? 0 : errno
    }

    /// Renames the file to a name that must be free.
    /// - Returns: 0, or errno.
    private func rename(_ name: [CChar]) -> Int32 {
        var code = calls.renameNew(location.folder, name, location.name)
        guard Self.isUnsupported(code) else { return code }
        code = calls.link(location.folder, name, location.name)
        if code == 0 { unlinkat(location.folder, name, 0) }
        return Self.isUnsupported(code) ? replacePlaceholder(by: name) : code
    }

    /// Reserves the name with an empty file, and replaces that with the complete one.
    private func replacePlaceholder(by name: [CChar]) -> Int32 {
        let placeholder = location.open(Self.creation, mode: 0o600)
        guard placeholder >= 0 else { return -placeholder }
        defer { close(placeholder) }
        // Another process may have replaced it, or written to it.
        func isInPlace() -> Bool {
            guard let status = location.status, status.st_size == 0 else { return false }
            return FileIdentity(status) == FileIdentity(descriptor: placeholder)
        }
        // Not EEXIST, for which the complete file would be removed: some file systems report a new inode
        // number each time.
        guard isInPlace() else { return ESTALE }
        let code = replace(by: name)
        if code != 0, isInPlace() { location.unlink() }
        return code
    }

    /// Gives the content a name by copying it.
    private func copy() throws(OutputError.Kind) {
        let name = Self.newTemporaryName
        let target = openat(location.folder, name, Self.creation, 0o600)
        guard target >= 0 else { throw .lost(because: .notCreated(errno: errno)) }
        defer { close(target) }
        temporaryName = name
        do throws(OutputError.Kind) {
            try copyContent(to: target)
            guard fdatasync(target) == 0 || errno == EINVAL else { throw .init(writeFailed: errno) }
        } catch {
            removeTemporaryName()
            throw .lost(because: error)
        }
        var status = stat()
        if fstat(descriptor, &status) == 0 { Self.give(target, theOwnerOf: status) }
    }

    private func copyContent(to target: Int32) throws(OutputError.Kind) {
        let failure = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { room -> Int32 in
            var position: off_t = 0
            while true {
                let count = pread(descriptor, room.baseAddress, room.count, position)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return count == 0 ? 0 : errno }
                var rest = UnsafeRawBufferPointer(rebasing: room[..<count])
                while !rest.isEmpty {
                    let written = write(target, rest.baseAddress, rest.count)
                    if written < 0, errno == EINTR { continue }
                    guard written > 0 else { return written == 0 ? EIO : errno }
                    rest = UnsafeRawBufferPointer(rebasing: rest[written...])
                }
                position += off_t(count)
            }
        }
        guard failure == 0 else { throw .init(writeFailed: failure) }
    }

    private func removeTemporaryName() {
        guard let name = temporaryName.take() else { return }
        unlinkat(location.folder, name, 0)
    }

    private func path(of name: [CChar]) -> String {
        let name = String(decoding: name.dropLast().map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
        return location.folderPath.map { $0 == "/" ? "/\(name)" : "\($0)/\(name)" } ?? name
    }

    /// Unpredictable, so no other user can create it in advance.
    private static var newTemporaryName: [CChar] {
        Array(".camrec-\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).part".utf8CString)
    }

    /// Sets the owner and the mode. If the owner cannot be set, only the new owner gets access: a private
    /// file must not become readable for others.
    private static func give(_ descriptor: Int32, theOwnerOf former: stat) {
        let isOwners = fchown(descriptor, former.st_uid, former.st_gid) == 0
        fchmod(descriptor, former.st_mode & (isOwners ? 0o777 : 0o700))
    }
}

// MARK: - Files that never get a name

/// A file without a name, which disappears with its last descriptor: for a result that must be complete
/// before it can be sent. Used by one thread.
public final class UnnamedFile {
    /// Open for reading and writing.
    public let descriptor: Int32
    /// Bytes so far.
    public private(set) var count = 0
    package let name: String
    package private(set) var position = 0
    private let limit: Int

    /// Creates a file.
    /// - Parameters:
    ///   - folder: the folder whose file system stores the content.
    ///   - limit: the maximum size in bytes.
    public init(in folder: String, limit: Int) throws(OutputError) {
        (name, self.limit) = ("a temporary file in \(folder)", limit)
        let location: FileLocation
        do throws(FileLocation.Failure) {
            location = try FileLocation("\(folder)/.unnamed-\(UInt64.random(in: 0 ... .max))")
        } catch { throw OutputError(.notCreated(errno: error.errno), output: name) }
        descriptor = Self.open(location)
        guard descriptor >= 0 else { throw OutputError(.notCreated(errno: -descriptor), output: name) }
    }

    /// - Returns: a descriptor, or -errno.
    private static func open(_ location: FileLocation) -> Int32 {
        let descriptor = location.openUnnamed(mode: 0o600)
        // File systems without unnamed files: create a named one and remove the name at once.
        guard StagedFile.meansNoUnnamedFiles(-descriptor) else { return descriptor }
        let named = location.open(O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        guard named >= 0 else { return named }
        location.unlink()
        return named
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}

extension UnnamedFile: MuxerOutput, ReadableOutput {
    package var keptCount: Int { 0 }
    package var isSeekable: Bool { true }
    package var isStaged: Bool { true }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
        guard bytes.count <= limit - position else { throw OutputError(.tooLarge, output: name) }
        var rest = bytes
        while !rest.isEmpty {
            let written = pwrite(descriptor, rest.baseAddress, rest.count, off_t(position))
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw OutputError(writeFailed: errno, output: name) }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            position += written
            count = max(count, position)
        }
    }

    package func seek(to position: Int) { self.position = position }

    package func read(into room: UnsafeMutableRawBufferPointer, at position: Int) -> Int {
        pread(descriptor, room.baseAddress, room.count, off_t(position))
    }

    package func makeReadBack(_ library: cformat_library) -> UnsafeMutablePointer<AVIOContext>? {
        ReadBack.makeContext(self, library)
    }
}
