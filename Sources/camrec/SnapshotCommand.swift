import ArgumentParser
import CamCommandLine
import CamPictures
import CamPlatform
import CamRecorder
import Capture
import Glibc
import CamStorage
import Containers

/// `camrec snapshot FILE`
struct SnapshotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Takes one picture and writes it as JPEG or PNG.",
        usage: "camrec snapshot [<options>] <FILE>",
        discussion: """
            FILE is named .jpg, .jpeg or .png, or is - for a JPEG on standard output. Its name may contain strftime's \
            %Y, %m, ... for the time of capture.

            A camera's automatic exposure gets time to settle: the picture is taken as soon as the brightness is \
            steady, at the latest after --settle. Damaged pictures are skipped.

            The pictures of a camera that sends Motion JPEG are not coded again: the file has the camera's own data. The \
            file says when it was captured, by which camera, and how it was exposed, if the driver knows that.

            Examples:
              camrec snapshot a.jpg
              camrec snapshot --device /dev/video2 --size 1920x1080 --format mjpeg a.jpg
              camrec snapshot --settle 3s '%F_%H%M%S.png'
              camrec snapshot - | display -

            Exit codes: 0 done; 64 usage; 65 bad input file; 66 no such device or not a capture device; 73 cannot \
            create the file; 74 reading or writing failed; 75 device busy; 77 no permission; 129, 130, 143: stopped by \
            a signal.
            """)

    @Argument(
        help: ArgumentHelp("File to write: .jpg, .jpeg or .png; - for standard output.", valueName: "FILE"),
        completion: .file(extensions: ["jpg", "jpeg", "png"]),
        transform: PlainValue.text("expected a file named .jpg, .jpeg or .png, or -"))
    var output: String

    @OptionGroup(title: "Source") var source: SourceOptions
    @OptionGroup(title: "Privacy") var privacy: PrivacyOptions

    @Option(
        help: ArgumentHelp(
            "How long a camera's exposure may take to settle, up to 60s; 0 takes the first picture. Default: 1s.",
            valueName: "TIME"), transform: Self.readSettling)
    var settle: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Quality of a JPEG, 1 to 100 (best). Default: a camera's own JPEG as it is, else 90.",
            valueName: "N"),
        transform: PlainValue.number(1...100))
    var quality: Int?

    @Flag(help: "Use UTC instead of local time, in the name and in the file.")
    var utc = false

    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Flag(help: "Print only warnings and errors, even on a terminal.")
    var quiet = false

    @Flag(help: "Print everything, even in a script.")
    var verbose = false

    /// The file's format; nil if its name says none.
    var format: Snapshot.Format? { output == FileSink.standardOutput ? .jpeg : Snapshot.Format(path: output) }

    /// The names that the argument stands for.
    var names: FileNamePattern { FileNamePattern(output, expandsTime: true, isUTC: utc) }

    func validate() throws {
        if let refusal { throw ValidationError(refusal) }
    }

    func run() throws {
        let console = Console(isQuiet: quiet, isVerbose: verbose)
        guard let signals = SignalWatch(program: "camrec") else {
            console.fail(RecordingError.noResources.description)
            throw ExitStatus.inputOutput
        }
        do throws(SnapshotError) {
            try SnapshotSession(command: self, console: console, signals: signals).run()
        } catch {
            console.fail(error.description)
            throw ExitStatus(error)
        }
    }

    private static func readSettling(_ argument: String) throws -> TimeSpan {
        if argument == "0" { return TimeSpan(seconds: 0) }
        return try TimeSpan.reader(0...60, "at most 60s, or 0")(argument)
    }
}

// MARK: Rules

extension SnapshotCommand {
    /// Why the command is refused, with the next step; nil if it is valid.
    var refusal: String? { nameRefusal ?? optionRefusal ?? sourceRefusal }

    private var nameRefusal: String? {
        if format == nil {
            return "'\(output)' must be named .jpg, .jpeg or .png; to record, leave out 'snapshot'"
        }
        if format == .png, quality != nil {
            return "--quality is for JPEG, and a .png loses nothing; leave it out"
        }
        return names.refusal(at: WallTime.now)
    }

    private var optionRefusal: String? {
        if quiet, verbose { return "--quiet and --verbose exclude each other; use only one" }
        if source.restoreControls, source.controlLists.isEmpty {
            return "--restore-controls has nothing to restore without --control; leave it out"
        }
        return source.pace == nil ? nil : "one picture has no pace; leave out --pace and --no-pace"
    }

    private var sourceRefusal: String? {
        if let refusal = privacy.refusal(within: source.isCamera ? nil : source.expectedSize) {
            return refusal
        }
        if source.format == .h264 {
            return "--format h264 has no single pictures; use another --format"
        }
        guard !source.isCamera else { return nil }
        if settle != nil { return "--settle is for cameras; leave it out" }
        do throws(CaptureError) {
            try CaptureSource.refuseImpossible(source.device, request: source.request)
        } catch { return error.description }
        return nil
    }
}

// MARK: Session

/// One run of the snapshot command.
///
/// The file is created once the picture is complete. Earlier failures leave nothing behind, so a signal ends
/// the process until then.
struct SnapshotSession {
    let command: SnapshotCommand
    let console: Console
    let signals: SignalWatch

    private static let usualSettling = Duration.seconds(1)

    func run() throws(SnapshotError) {
        try refuseImpossible()
        let form = try form()
        let stream = try openSource()
        let (name, format) = (stream.identity.name, stream.format)
        console.inform("\(name): \(format.size) \(format.pixelFormat)")
        if let note = command.source.waitingNote { console.inform("note: \(note)") }
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

    private func form() throws(SnapshotError) -> Snapshot.Form {
        do throws(InputError) {
            return Snapshot.Form(
                command.format ?? .jpeg, quality: command.quality, isUTC: command.utc,
                hiding: try command.privacy.mask(), program: Version.program)
        } catch { throw .input(error) }
    }

    /// Throws known obstacles to capturing and writing, before the camera's light goes on.
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
        let (busyPatience, absencePatience) = (
            (source.wait ?? .none).duration, (source.deviceTimeout ?? .none).duration
        )
        let wait = CameraWait(busyPatience: busyPatience, absencePatience: absencePatience)
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
                guard failure.isFirst else { return }
                console.inform(
                    RecordingNotes.waiting(
                        failure.error, for: failure.isBusy ? busyPatience : absencePatience))
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
                snapshot.bytes, to: path, overwrite: command.overwrite, cancellation: signals.cancellation)
        } catch { throw .output(error) }
    }
}
