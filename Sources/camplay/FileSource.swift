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

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    func read(into room: UnsafeMutableRawBufferPointer) throws(PlayError) -> Reading {
        while waitForBytes() {
            let count = Glibc.read(descriptor, room.baseAddress, room.count)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .ended }
            guard errno == EINTR || errno == EAGAIN else { throw .readFailed(name, errno: errno) }
        }
        return .ended
    }

    /// - Returns: false when reading is to end.
    private func waitForBytes() -> Bool {
        var descriptors = (
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0)
        )
        while true {
            let ready = withUnsafeMutablePointer(to: &descriptors) {
                $0.withMemoryRebound(to: pollfd.self, capacity: 2) { poll($0, 2, -1) }
            }
            if ready < 0, errno == EINTR { continue }
            return descriptors.1.revents == 0
        }
    }
}
