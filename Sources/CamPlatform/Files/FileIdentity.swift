import Glibc

/// Identifies a file, under any name.
public struct FileIdentity: Hashable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    /// The file that a path leads to; nil if there is none.
    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }

    /// An open file; nil if the descriptor is closed.
    public init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }

    /// Creates the identity from stat(2)'s result.
    public init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }

    /// Whether a path leads to a regular file; nil if there is nothing.
    public static func isFile(_ path: String) -> Bool? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT == S_IFREG : nil
    }
}
