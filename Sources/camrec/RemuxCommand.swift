import ArgumentParser
import Bitstream
import Capture
import Glibc
import Output
import Recorder
import Terminal

/// `camrec remux IN OUT`
struct RemuxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remux",
        abstract: "Puts a recorded raw stream into a container, each picture at its time.",
        usage: "camrec remux [<options>] <IN> <OUT>",
        discussion: """
            IN is a raw H.264 or H.265 file; OUT is named .mkv, .mp4 or .ts. Without --timestamps the pictures \
            come at the rate that the stream says, or that --fps gives. Nothing is encoded anew.

            Examples:
              camrec remux out.h264 out.mkv --timestamps out.txt
              camrec remux out.h265 out.mp4 --fps 30
            """)

    @Argument(
        help: ArgumentHelp("A raw H.264 or H.265 file.", valueName: "IN"),
        transform: PlainValue.text("it is a file's name"))
    var input: String

    @Argument(
        help: ArgumentHelp("The container: .mkv, .mp4 or .ts.", valueName: "OUT"),
        transform: PlainValue.text("it is a file named .mkv, .mp4 or .ts"))
    var output: String

    @Option(
        help: ArgumentHelp(
            "The pictures' times, as --timestamps wrote them or mkvmerge has them (format v2).",
            valueName: "FILE"),
        transform: PlainValue.text("it is a file's name"))
    var timestamps: String?

    @Option(
        help: ArgumentHelp("Frames a second, whatever the stream says: 30, 30000/1001.", valueName: "F"),
        transform: FrameRate.read)
    var fps: FrameRate?

    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Flag(help: "Say nothing but warnings and errors, even on a terminal.")
    var quiet = false

    @Flag(help: "Say everything, even in a script.")
    var verbose = false

    func validate() throws {
        if timestamps != nil, fps != nil {
            throw ValidationError("--timestamps excludes --fps; leave one out")
        }
        if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other; leave one out") }
        if ContainerFormat(path: output) == nil {
            throw ValidationError("'\(output)' must be named .mkv, .mp4 or .ts; give it such a name")
        }
    }

    func run() throws {
        let console = Console(isQuiet: quiet, isVerbose: verbose)
        guard let signals = SignalWatch(program: "camrec"), let format = ContainerFormat(path: output) else {
            console.fail(RecordingError.noResources.description)
            throw ExitStatus.inputOutput
        }
        do throws(RemuxError) {
            let remux = try Remux(
                input, timestampFile: timestamps,
                frameRate: fps.flatMap { NominalFrameRate($0.numerator, in: $0.denominator) })
            describe(remux, on: console)
            // From here on there is something to clean up: a signal asks for the end instead of being one.
            signals.workBegins()
            try remux.write(
                to: output, format: format, overwrite: overwrite, interruption: signals.interruption)
            console.inform("\(output): \(remux.pictureCount) pictures")
        } catch {
            console.fail(error.description)
            throw ExitStatus(error)
        }
    }

    private func describe(_ remux: Remux, on console: Console) {
        let stream = remux.description
        console.inform("\(input): \(stream.codec) \(stream.width)x\(stream.height)")
        if timestamps == nil, let rate = stream.frameRate {
            console.inform(
                "note: no timestamp file; \(rate.text) frames/s, as \(fps == nil ? "the stream says" : "asked for")"
            )
        }
        if remux.undecodableCount > 0 {
            console.warn(
                "\(input): \(remux.undecodableCount) pictures ahead of the first keyframe are left out")
        }
        if let timestamps, remux.unusedTimestampCount > 0 {
            console.warn(
                "\(timestamps) has \(remux.unusedTimestampCount) times more than \(input) has pictures; "
                    + "the recording may have been cut")
        }
    }
}

extension NominalFrameRate {
    /// `30`, `30000/1001`
    fileprivate var text: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
}
