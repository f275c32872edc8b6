import ArgumentParser
import Capture
import Output
import CamRecorder
import CamCommandLine

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
