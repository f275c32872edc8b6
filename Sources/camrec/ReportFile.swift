import FoundationEssentials
import Glibc
import Output
import Recorder

/// Where the JSON report goes. Opened before the recording, so that a report that cannot be written is
/// told at once.
final class ReportFile {
    private let path: String
    private let descriptor: Int32
    private let wasCreated: Bool
    private var isWritten = false

    /// Nil where no report is wanted.
    init?(_ options: ReportingOptions) throws(RecordingError) {
        guard let path = options.report else { return nil }
        self.path = path
        if path == FileSink.standardOutput {
            (descriptor, wasCreated) = (STDOUT_FILENO, false)
            return
        }
        let created = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        wasCreated = created >= 0
        descriptor = created >= 0 ? created : try Self.openExisting(path, overwrite: options.overwrite)
    }

    deinit {
        guard path != FileSink.standardOutput else { return }
        if wasCreated, !isWritten { unlink(path) }
        close(descriptor)
    }

    /// Which file it is.
    var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

    func write(_ result: RecordingResult) throws(OutputError) {
        guard let json = JSONText.of(result) else { throw failure(EINVAL) }
        // Standard output may be a file with something in it.
        if path != FileSink.standardOutput { ftruncate(descriptor, 0) }
        if let code = DescriptorWriter.write(json, to: descriptor) { throw failure(code) }
        isWritten = true
    }

    private static func openExisting(_ path: String, overwrite: Bool) throws(RecordingError) -> Int32 {
        let code = errno
        guard code == EEXIST else { throw .output(OutputError(.notCreated(errno: code), output: path)) }
        var status = stat()
        if stat(path, &status) == 0, [S_IFREG, S_IFBLK].contains(status.st_mode & S_IFMT), !overwrite {
            throw .output(OutputError(.exists, output: path))
        }
        // A named pipe without a reader would block.
        let opened = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else {
            throw .output(OutputError(errno == ENXIO ? .noReader : .notCreated(errno: errno), output: path))
        }
        _ = fcntl(opened, F_SETFL, O_WRONLY)
        return opened
    }

    private func failure(_ code: Int32) -> OutputError {
        let name = path == FileSink.standardOutput ? "standard output" : path
        return switch code {
        case ENOSPC, EDQUOT: OutputError(.diskFull, output: name)
        case EPIPE: OutputError(.closedPipe, output: name)
        default: OutputError(.writeFailed(errno: code), output: name)
        }
    }
}
