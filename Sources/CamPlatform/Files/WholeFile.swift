import Glibc

/// Reads a small regular file at once.
///
/// Pipes and devices are refused: they might never end, or block.
public enum WholeFile {
    /// Why a file was not read.
    public enum Failure: Error, Sendable, Equatable {
        /// Opening or reading it failed.
        case system(errno: Int32)
        /// It is a folder, a pipe, a device or the like.
        case notRegular
        /// It has more bytes than allowed.
        case tooLong
    }

    /// Returns a file's bytes.
    /// - Parameters:
    ///   - limit: the maximum size in bytes.
    ///   - permissions: a file with any of these permissions is refused with `system(errno: EPERM)`, an error
    ///     that reading itself does not cause.
    public static func read(
        _ path: String, atMost limit: Int, refusing permissions: mode_t = 0
    ) throws(Failure) -> [UInt8] {
        // Without O_NONBLOCK, opening a pipe that has no writer would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        guard status.st_mode & permissions == 0 else { throw .system(errno: EPERM) }
        guard status.st_size <= limit else { throw .tooLong }
        // One extra byte detects a file that grows during the read.
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size) + 1)
        var count = 0
        while count < bytes.count {
            let added = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if added < 0, errno == EINTR { continue }
            guard added >= 0 else { throw .system(errno: errno) }
            if added == 0 { break }
            count += added
            if count == bytes.count, count <= limit {
                bytes += repeatElement(0, count: min(count, limit + 1 - count))
            }
        }
        guard count <= limit else { throw .tooLong }
        return Array(bytes.prefix(count))
    }
}

// MARK: - Writing

/// Writes a small file completely or not at all, and replaces any existing file.
public enum ReplacingFile {
    /// Why a file was not written.
    public struct Failure: Error, Sendable, Equatable {
        public let errno: Int32
    }

    /// Writes a file. An existing file stays in place until the new one is completely on the disk.
    /// - Parameter mode: the file's permissions; the umask does not apply.
    public static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(Failure) {
        let location: FileLocation
        do throws(FileLocation.Failure) { location = try FileLocation(path) } catch {
            throw Failure(errno: error.errno)
        }
        let temporary = ".\(UInt64.random(in: 0 ... .max)).new"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = openat(location.folder, temporary, flags, 0o600)
        guard descriptor >= 0 else { throw Failure(errno: errno) }
        defer { close(descriptor) }
        do throws(Failure) {
            try write(bytes, to: descriptor)
            guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0,
                renameat(location.folder, temporary, location.folder, location.name) == 0
            else { throw Failure(errno: errno) }
        } catch {
            unlinkat(location.folder, temporary, 0)
            throw error
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(errno: count < 0 ? errno : EIO) }
            rest = rest.dropFirst(count)
        }
    }
}
