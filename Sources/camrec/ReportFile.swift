import FoundationEssentials
import Glibc
import Output
import Recorder

/// Where the JSON report goes. Opened before the recording, so that a report that cannot be written is
/// told at once.
final class ReportFile {
    private let name: String
    private let descriptor: Int32
    private var isWritten = false
    private let wasCreated: Bool

    /// Nil where no report is wanted.
    init?(_ options: ReportingOptions, output: String) throws(RecordingError) {
        guard let path = options.report else { return nil }
        name = path
        if path == FileSink.standardOutput {
            (descriptor, wasCreated) = (STDOUT_FILENO, false)
            return
        }
        let created = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        wasCreated = created >= 0
        if created < 0, errno == EEXIST, !options.overwrite {
            throw .output(OutputError(.exists, output: path))
        }
        descriptor = created >= 0 ? created : Glibc.open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .output(OutputError(.notCreated(errno: errno), output: path)) }
    }

    deinit {
        if name != FileSink.standardOutput {
            if wasCreated, !isWritten { unlink(name) }
            close(descriptor)
        }
    }

    func write(_ result: RecordingResult) throws(OutputError) {
        isWritten = true
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard var bytes = try? Array(encoder.encode(result)) else {
            throw OutputError(.writeFailed(errno: EINVAL), output: name)
        }
        bytes.append(0x0a)
        if name != FileSink.standardOutput { ftruncate(descriptor, 0) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw OutputError(errno == ENOSPC ? .diskFull : .writeFailed(errno: errno), output: name)
            }
            rest = rest.dropFirst(count)
        }
    }
}
