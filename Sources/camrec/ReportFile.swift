import Files
import Glibc
import Output
import Recorder
import Terminal

/// Where the JSON report goes. Opened before the recording, so that a report that cannot be written is
/// told at once.
final class ReportFile {
    private let file: BufferedFile

    /// Nil where no report is wanted.
    /// - Parameter names: what its name makes of the date; nothing of `-`.
    init?(_ options: ReportingOptions, names: SegmentNames?, at time: time_t) throws(RecordingError) {
        guard let names else { return nil }
        let path = names.name(at: time)
        do throws(OutputError) {
            if path != names.pattern { try FileOutput.makeFolder(of: path, below: names.folder) }
            // A service that was restarted has nobody to remove its former run's.
            file = try BufferedFile(
                path: path, overwrite: options.overwrite || ServiceEnvironment.own.isNotified)
        } catch {
            throw .output(error)
        }
    }

    /// Which file it is.
    var identity: FileIdentity? { file.identity }

    func write(_ result: RecordingResult) throws(OutputError) {
        guard let json = JSONText.of(result) else {
            throw OutputError(.writeFailed(errno: EINVAL), output: file.name)
        }
        try file.write(Array(json.utf8))
        try file.finish()
    }
}
