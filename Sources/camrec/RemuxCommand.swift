import ArgumentParser
import Bitstream
import Glibc
import CamPictures
import CamRecorder
import CamCommandLine
import CamPlatform
import Containers

/// `camrec remux IN OUT`
struct RemuxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remux",
        abstract:
            "Moves a recording to another container, or cuts it, and keeps the time of pictures and sound.",
        usage: "camrec remux [<options>] <IN> <OUT>",
        discussion: """
            IN is a .mkv, .mp4 or .ts file, or a raw stream (.h264, .h265, .avcc); OUT is named .mkv, .mp4, .ts, \
            .h264 or .h265. The pictures of a raw stream get their times from --timestamps, from --fps, or from the \
            rate that the stream declares. Sound that camrec can record (AAC, Opus, FLAC) is \
            copied into containers. Nothing is re-encoded. An .mp4 appears once it is complete, with its index \
            at the front.

            Examples:
              camrec remux out.h264 out.mkv --timestamps out.txt
              camrec remux out.h265 out.mp4 --fps 30
              camrec remux --from 1m --to 2m30s night.mkv part.mp4
            """)

    @Argument(
        help: ArgumentHelp("Recording to read.", valueName: "IN"),
        completion: .readable, transform: PlainValue.text("expected a file's name")
    )
    var input: String

    @Argument(
        help: ArgumentHelp("File to write: .mkv, .mp4, .ts, .h264 or .h265.", valueName: "OUT"),
        completion: .recording,
        transform: PlainValue.text("expected a file named .mkv, .mp4, .ts, .h264 or .h265"))
    var output: String

    @Option(
        help: ArgumentHelp(
            "File with the pictures' times, from --timestamps or for mkvmerge (format v2).",
            valueName: "FILE"),
        completion: .file(), transform: PlainValue.text("expected a file's name"))
    var timestamps: String?

    @Option(
        help: ArgumentHelp("Frames per second, overriding the stream: 30, 30000/1001.", valueName: "F"),
        transform: FrameRate.read)
    var fps: FrameRate?

    @Option(
        help: ArgumentHelp("File with the avcC or hvcC of an .avcc file.", valueName: "FILE"),
        completion: .file(), transform: PlainValue.text("expected a file's name"))
    var record: String?

    @Option(
        help: ArgumentHelp(
            "Start at the last IDR picture at or before a time: 90s, 10m, 1h.", valueName: "TIME"),
        transform: TimeSpan.readPlace)
    var from: TimeSpan?

    @Option(
        help: ArgumentHelp("End before the first IDR picture at or after a time.", valueName: "TIME"),
        transform: TimeSpan.read)
    var to: TimeSpan?

    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Flag(help: "Print only warnings and errors, even on a terminal.")
    var quiet = false

    @Flag(help: "Print everything, even in a script.")
    var verbose = false

    func validate() throws {
        if timestamps != nil, fps != nil {
            throw ValidationError("--timestamps excludes --fps; leave one out")
        }
        if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other; use only one") }
        if let from, let to, to.seconds <= from.seconds {
            throw ValidationError("--to is not later than --from; use a later time")
        }
        if RemuxFormat(path: output) == nil {
            throw ValidationError(
                "'\(output)' must be named .mkv, .mp4, .ts, .h264 or .h265")
        }
    }

    func run() throws {
        let console = Console(isQuiet: quiet, isVerbose: verbose)
        var losesPictures = false
        guard let signals = SignalWatch(program: "camrec"), let format = RemuxFormat(path: output) else {
            console.fail(RecordingError.noResources.description)
            throw ExitStatus.inputOutput
        }
        do throws(RemuxError) {
            let remux = try Remux(
                input,
                Remux.SidecarFiles(
                    timestampFile: timestamps,
                    frameRate: fps,
                    record: record),
                range: RemuxRange(start: from?.duration, end: to?.duration))
            describe(remux, format, on: console)
            // From here on there is something to clean up: a signal requests the end instead of ending the process.
            signals.workBegins()
            let stepCount = try remux.write(
                to: output, format: format, overwrite: overwrite, cancellation: signals.cancellation)
            if stepCount > 0 {
                console.warn(
                    "\(input): times that do not increase: \(stepCount); those pictures directly follow the previous one"
                )
            }
            console.inform(
                "\(output): \(Quantity.count(remux.pictureCount, "picture"))\(remux.cut.map(Self.text) ?? "")"
            )
            losesPictures = remux.losesPictures
        } catch {
            console.fail(error.description)
            throw ExitStatus(error)
        }
        // The output has all that can be read, but a script must not remove the input for it.
        if losesPictures { throw ExitStatus.badInput }
    }

    /// Describes where the cut actually is.
    private static func text(_ cut: RemuxCut) -> String {
        let end = cut.end.map { "\($0.inSeconds) s" } ?? "the end"
        return ", from \(cut.start.inSeconds) s to \(end), where keyframes are"
    }

    private func describe(_ remux: Remux, _ format: RemuxFormat, on console: Console) {
        let stream = remux.description
        let sound = stream.sound.map { ", \($0.codec.name) \($0.format)" } ?? ""
        console.inform("\(input): \(stream.codec) \(stream.width)x\(stream.height)\(sound)")
        if remux.usesCaptureTimes { console.inform("note: times are the capture times in the stream") }
        if !remux.hasOwnTimes, timestamps == nil, let rate = stream.frameRate {
            console.inform(
                "note: no timestamp file; \(rate.text) frames/s, as \(fps == nil ? "the stream declares" : "requested")"
            )
        }
        if remux.undecodableCount > 0 {
            console.warn(
                "\(input): \(Quantity.count(remux.undecodableCount, "picture")) before the first keyframe left out"
            )
        }
        for remark in remux.remarks(for: format) { console.warn("\(input): \(remark)") }
        if let problem = remux.brokenEnd {
            console.warn("\(input): its end cannot be read and is left out: \(problem)")
        }
        if let timestamps, remux.unusedTimestampCount > 0 {
            console.warn(
                "\(timestamps) has \(remux.unusedTimestampCount) more times than \(input) has pictures; "
                    + "the recording may have been cut")
        }
    }
}

extension FrameRate {
    /// `30`, `30000/1001`
    fileprivate var text: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
}
