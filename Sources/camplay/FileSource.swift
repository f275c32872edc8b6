import Glibc
import Threading

/// A file or standard input.
final class FileSource: ByteSource {
    let name: String
    private let descriptor: Int32
    private let interruption: Interruption

    /// Opens a file, or takes standard input for nil. A named pipe is waited for until it has a writer.
    init(path: String?, interruption: Interruption) throws(PlayError) {
        self.interruption = interruption
        guard let path else {
            (name, descriptor) = ("standard input", STDIN_FILENO)
            return
        }
        name = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .notOpened(path, errno: errno) }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            close(descriptor)
            throw .notOpened(path, errno: EISDIR)
        }
    }

    /// Whether a descriptor is that of a file in a file system, and no pipe, socket or terminal.
    static func isFile(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    func read(into room: UnsafeMutableRawBufferPointer) throws(PlayError) -> Reading {
        while interruption.wait(for: descriptor) == .ready {
            let count = Glibc.read(descriptor, room.baseAddress, room.count)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .ended }
            guard errno == EINTR || errno == EAGAIN else { throw .readFailed(name, errno: errno) }
        }
        return .ended
    }

    func giveUp(_ reason: String) -> Bool { false }
}
