import Glibc
import Output
import Terminal

/// A file that is written piece by piece: created before anything is read, refused where it exists, and
/// removed again where nothing came of it.
final class OutputFile {
    private let path: String
    private let descriptor: Int32
    private let wasCreated: Bool
    private var buffer: [UInt8] = []
    private var hasStarted = false
    private var isFinished = false

    private static let bufferSize = 256 << 10

    /// Creates or opens the file; `-` is standard output.
    init(path: String, overwrite: Bool) throws(OutputError) {
        self.path = path
        if path == FileSink.standardOutput {
            (descriptor, wasCreated) = (STDOUT_FILENO, false)
            return
        }
        let created = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        wasCreated = created >= 0
        descriptor = wasCreated ? created : try Self.openExisting(path, errno, overwrite: overwrite)
    }

    deinit {
        guard path != FileSink.standardOutput else { return }
        if wasCreated, !isFinished { unlink(path) }
        close(descriptor)
    }

    /// Which file it is.
    var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

    /// Adds bytes, and writes what has come together where that is much.
    func write(_ bytes: [UInt8]) throws(OutputError) {
        buffer += bytes
        if buffer.count >= Self.bufferSize { try flush() }
    }

    /// Writes all that is left. The file stays.
    func finish() throws(OutputError) {
        try flush()
        isFinished = true
    }

    private func flush() throws(OutputError) {
        // Only now is what stood in the file given up. Standard output may be a file with something in it.
        if !hasStarted, path != FileSink.standardOutput { _ = ftruncate(descriptor, 0) }
        hasStarted = true
        let code = buffer.withUnsafeBytes { DescriptorWriter.write($0, to: descriptor) }
        if let code { throw OutputError(writing: path, failed: code) }
        buffer.removeAll(keepingCapacity: true)
    }

    private static func openExisting(
        _ path: String, _ code: Int32, overwrite: Bool
    ) throws(OutputError) -> Int32 {
        guard code == EEXIST else { throw OutputError(.notCreated(errno: code), output: path) }
        var status = stat()
        if stat(path, &status) == 0, [S_IFREG, S_IFBLK].contains(status.st_mode & S_IFMT), !overwrite {
            throw OutputError(.exists, output: path)
        }
        // A named pipe without a reader would block.
        let opened = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else {
            throw OutputError(errno == ENXIO ? .noReader : .notCreated(errno: errno), output: path)
        }
        _ = fcntl(opened, F_SETFL, O_WRONLY)
        return opened
    }
}

extension OutputError {
    /// For a write that failed with this errno.
    init(writing path: String, failed code: Int32) {
        let name = path == FileSink.standardOutput ? "standard output" : path
        switch code {
        case ENOSPC, EDQUOT: self.init(.diskFull, output: name)
        case EPIPE: self.init(.closedPipe, output: name)
        case EFBIG: self.init(.tooLarge, output: name)
        default: self.init(.writeFailed(errno: code), output: name)
        }
    }
}
