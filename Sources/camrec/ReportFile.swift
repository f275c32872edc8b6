import CamPlatform
import Glibc
import Output
import CamRecorder
import CamCommandLine

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
