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
    ///   - limit: the most bytes that it may have.
    ///   - permissions: with any of these it is refused: `system(errno: EPERM)`, which reading has no other use for.
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
        // A byte more, in case the file grows meanwhile.
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
