import CamCommandLine
import CamPlatform
import CamRecorder
import Glibc
import CamStorage
import Containers

/// An `OutputFile` that is written in large blocks: created before any input is read, and removed if the command
/// fails.
final class BufferedFile {
    private let file: OutputFile
    private var buffer: [UInt8] = []

    private static let bufferSize = 256 << 10

    /// Creates or opens the file; `-` is standard output.
    init(path: String, overwrite: Bool) throws(OutputError) {
        // Never raised: the wait for a pipe's reader is unlimited.
        guard let cancellation = CancellationFlag() else {
            throw OutputError(.notCreated(errno: EMFILE), output: path)
        }
        file = try OutputFile(path: path, overwrite: overwrite, cancellation: cancellation)
    }

    /// The path, or "standard output".
    var name: String { file.name }

    /// The file's identity.
    var identity: FileIdentity? { file.identity }

    /// Appends bytes, and writes the buffer once it is large.
    func write(_ bytes: [UInt8]) throws(OutputError) {
        buffer += bytes
        if buffer.count >= Self.bufferSize { try flush() }
    }

    /// Writes the rest of the buffer and keeps the file.
    func finish() throws(OutputError) {
        try flush()
        file.keep()
        try file.close()
    }

    private func flush() throws(OutputError) {
        try file.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}

/// The JSON report's file, opened before the recording, so that a failure is reported immediately.
final class ReportFile {
    private let file: BufferedFile

    /// Opens the file; nil if no report is requested.
    /// - Parameter names: its name as a pattern for the date (`-` stays as it is); nil for no report.
    init?(_ options: ReportingOptions, names: FileNamePattern?, at time: WallTime) throws(RecordingError) {
        guard let names else { return nil }
        let path = names.name(at: time)
        do throws(OutputError) {
            if path != names.pattern { try FileOutput.makeFolder(of: path, below: names.folder) }
            // After a service's restart, there is no user to remove the previous run's report.
            file = try BufferedFile(
                path: path, overwrite: options.overwrite || ServiceEnvironment.own.isNotified)
        } catch {
            throw .output(error)
        }
    }

    /// The file's identity.
    var identity: FileIdentity? { file.identity }

    func write(_ result: RecordingResult) throws(OutputError) {
        guard let json = JSONText.of(result) else {
            throw OutputError(.writeFailed(errno: EINVAL), output: file.name)
        }
        try file.write(Array(json.utf8))
        try file.finish()
    }
}
