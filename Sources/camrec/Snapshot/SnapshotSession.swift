import Capture
import Glibc
import Output
import CamRecorder
import CamCommandLine
import CamPlatform

/// One run of the snapshot command.
///
/// The file is created once the picture is there: whatever happens before leaves nothing behind, so until then a
/// signal ends the process.
struct SnapshotSession {
    let command: SnapshotCommand
    let console: Console
    let signals: SignalWatch

    private static let usualSettling = Duration.seconds(1)

    func run() throws(SnapshotError) {
        try refuseImpossible()
        let stream = try openSource()
        let (name, format) = (stream.identity.name, stream.format)
        console.inform("\(name): \(format.size) \(format.pixelFormat)")
        var taker = SnapshotTaker(form, settle: command.settle?.duration ?? Self.usualSettling)
        let snapshot = try taker.take(from: stream)
        if taker.verdict == .timedOut {
            console.inform("note: the exposure had not settled; a longer --settle may help")
        }
        signals.workBegins()
        let path = try write(snapshot)
        let kind = snapshot.isCamerasOwn ? ", as the camera coded it" : ""
        console.inform("\(path): \(snapshot.bytes.count) bytes\(kind)")
    }

    private var form: Snapshot.Form {
        Snapshot.Form(
            command.format ?? .jpeg, quality: command.quality, isUTC: command.utc,
            program: Version.program)
    }

    /// Throws what would prevent writing, as far as it is known, before the camera's light goes on.
    private func refuseImpossible() throws(SnapshotError) {
        do throws(CaptureError) {
            try CaptureSource.refuseImpossible(command.source.device, request: command.source.request)
        } catch { throw .capture(error) }
        // The name of a file with a date depends on the time of capture.
        guard !isDated else { return }
        do throws(OutputError) {
            try OutputFile.refuseUnusable(command.output, overwrite: command.overwrite)
        } catch { throw .output(error) }
    }

    private var isDated: Bool { command.output.contains("%") }

    private func openSource() throws(SnapshotError) -> any CaptureStream {
        let source = command.source
        let wait = CameraWait(
            busyPatience: (source.wait ?? .none).duration,
            absencePatience: (source.deviceTimeout ?? .none).duration)
        do throws(CaptureError) {
            return try wait.open { () throws(CaptureError) in
                let stream = try CaptureSource.open(
                    source.device, request: source.request, isPaced: source.pace)
                // A camera may be unplugged between opening and starting.
                try stream.start()
                return stream
            } isOver: {
                false
            } failed: { failure in
                if failure.isFirst { console.inform("waiting: \(failure.error)") }
            }
        } catch { throw .capture(error) }
    }

    /// Writes the file completely or not at all.
    /// - Returns: its name.
    private func write(_ snapshot: Snapshot) throws(SnapshotError) -> String {
        do throws(OutputError) {
            let names = command.names
            let path = names.name(at: snapshot.time)
            if isDated { try FileOutput.makeFolder(of: path, below: names.folder) }
            return try OutputFile.write(
                snapshot.bytes, to: path, overwrite: command.overwrite, interruption: signals.interruption)
        } catch { throw .output(error) }
    }
}
