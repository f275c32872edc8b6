import Glibc

/// A file with certificates in PEM, read whole.
struct CertificateFile {
    let bytes: [UInt8]

    /// Several times what systems have of certificate authorities.
    private static let mostBytes = 4 << 20

    /// Reads regular files only: a pipe might never end, and a device has no end.
    init(_ path: String) throws(NetworkError) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw NetworkError(.certificatesNotRead(errno: errno), address: path) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else {
            throw NetworkError(.certificatesNotRead(errno: errno), address: path)
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.mostBytes else {
            throw NetworkError(.noCertificates(inFile: true), address: path)
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let added = bytes.withUnsafeMutableBytes { room in
                read(file, room.baseAddress?.advanced(by: count), room.count - count)
            }
            if added < 0, errno == EINTR { continue }
            guard added >= 0 else { throw NetworkError(.certificatesNotRead(errno: errno), address: path) }
            if added == 0 { break }
            count += added
        }
        self.bytes = Array(bytes.prefix(count))
    }
}
