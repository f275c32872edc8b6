import Glibc

/// Writes a small file whole or not at all, in place of one that may be there.
public enum ReplacingFile {
    /// Why a file was not written.
    public struct Failure: Error, Sendable, Equatable {
        public let errno: Int32
    }

    /// Writes a file. What was there before stays until all is on the disk.
    /// - Parameter mode: the file's permissions, whatever the umask.
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
