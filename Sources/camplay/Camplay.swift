import CamAcceleration
import ArgumentParser
import Bitstream
import Decoder
import Glibc
import CamNetworking
import CamCommandLine
import Containers

/// The command: `camplay [options] SOURCE`.
@main
struct Camplay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camplay",
        abstract: "Plays an H.264 or H.265 recording or stream, and saves it or its pictures.",
        usage: "camplay [<options>] <SOURCE>",
        discussion: """
            SOURCE is tcp://HOST:PORT (connects and reconnects), listen://[HOST:]PORT (waits for a sender), a file \
            (.mkv, .mp4, .ts, .h264, .h265, .avcc), or - for standard input. A pipe is shown as it arrives; with --fps, \
            --speed or --timestamps, each picture is shown at its time. The sound (AAC, Opus, FLAC) of a file or \
            a live container is played with its pictures, unless --speed, --fps or --timestamps changes their time.

            Keys: F full screen, space pause, M mute, S statistics, left and right seek 10 s in a file, down and up 60 s, \
            Q or Escape quit.

            Examples:
              camplay tcp://192.168.1.100:9982
              camplay --speed 0.5 out.h264
              camplay --start 1m out.mkv
              camplay --no-window --save copy.h264 tcp://camera:9982
              camplay --no-window --output pictures.y4m out.h265
              camplay --no-window --frames 1 --snapshot now.png tcp://camera:9982

            Exit codes: 0 done; 64 usage; 65 not an H.264 or H.265 stream, or no picture in it; 66 no such file; 69 \
            no display or no decoder; 73 cannot create a file, or listen; 74 read or write failed; 77 no permission \
            to read; 129, 130, 143: stopped by a signal before playing began, or by a second one.
            """,
        version: Version.text(of: "camplay", libraries: LoadedLibraries.descriptions))

    @Argument(
        help: ArgumentHelp("tcp://HOST:PORT, listen://[HOST:]PORT, a file, or -.", valueName: "SOURCE"),
        completion: .file(), transform: SourceChoice.read)
    var source: SourceChoice

    @OptionGroup(title: "Input") var reading: ReadingOptions
    @OptionGroup(title: "Display") var showing: ShowingOptions
    @OptionGroup(title: "Output") var writing: WritingOptions

    @Flag(help: "Print only warnings and errors, even on a terminal.")
    var quiet = false

    @Flag(help: "Print everything, even in a script.")
    var verbose = false

    func validate() throws {
        if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other; use only one") }
        if source.isConnection, showing.givesTimes {
            throw ValidationError(
                "--speed, --fps and --timestamps are for files and pipes: a live stream has its own time")
        }
        if showing.noWindow, showing.speed != 1 || showing.timestamps != nil {
            throw ValidationError("--speed and --timestamps are for the window; leave them out")
        }
        if reading.start != nil, isLive { throw ValidationError("--start is for files") }
        if reading.once, !source.isConnection {
            throw ValidationError("--once is for tcp:// and listen://; leave it out")
        }
    }

    /// Whether the latest picture matters more than each picture's time.
    var isLive: Bool { source.isLive && !showing.givesTimes }

    func run() throws {
        let console = Console(isQuiet: quiet, isVerbose: verbose, isDetached: true)
        defer { console.finish() }
        // camrec uses these signals; camplay does not.
        guard let signals = SignalWatch(program: "camplay", userSignals: [SIGUSR1: {}, SIGUSR2: {}]) else {
            console.fail("out of threads or descriptors; raise 'ulimit -n' and 'ulimit -u'")
            throw ExitStatus.inputOutput
        }
        do throws(PlayError) {
            try PlaySession(command: self, console: console, signals: signals).run()
        } catch {
            console.fail(error.description)
            throw ExitStatus(error)
        }
    }

    /// Replaces ArgumentParser's own `main`, so that every error is one line.
    static func main() {
        let given = Array(CommandLine.arguments.dropFirst())
        if ArgumentText.isCompletionRequest(given) { return main(given) }
        SignalWatch.holdUserSignals()
        StandardDescriptors.fill()
        if let damage = ArgumentText.damage(in: CommandLine.unsafeArgv) {
            Console(isQuiet: false, isVerbose: false).fail(damage)
            Glibc.exit(ExitStatus.usage.rawValue)
        }
        // Listing the flags takes milliseconds and memory.
        let flags = given.contains(where: ArgumentText.isNegative) ? CommandOptions(of: Self.self).flags : []
        let words = ArgumentText.joiningNegativeNumbers(given, flags: flags)
        let unknown = UnknownOption(of: Self.self, foreign: ForeignOption.playing, help: "camplay --help")
        do {
            if let answer = ShortHelp.answer(to: words, short: shortHelp, help: helpMessage()) {
                try give(answer)
            }
            if let mistake = ArgumentText.emptyValue(in: words) { throw ValidationError(mistake) }
            var command = try parseAsRoot(words)
            try command.run()
        } catch {
            if let status = error as? ExitStatus { Glibc.exit(status.rawValue) }
            let isHelp = exitCode(for: error) == .success
            let mistake = isHelp ? unknown.clusterMistake(in: words) : unknown.mistake(in: words)
            if isHelp, mistake == nil { exit(withError: error) }
            let line = mistake ?? ParserMessage.line(message(for: error))
            // A reason that already names the next step needs no reference to the help.
            let message = line.contains("; ") ? line : "\(line); see 'camplay --help'"
            Console(isQuiet: false, isVerbose: false).fail(message)
            Glibc.exit(ExitStatus.usage.rawValue)
        }
    }
}

// MARK: Help

extension Camplay {
    /// What `-h` prints.
    static var shortHelp: ShortHelp {
        ShortHelp(
            "camplay plays an H.264 or H.265 recording or stream, and saves its pictures.",
            examples: [
                .init("camplay out.mkv"),
                .init("camplay tcp://192.168.1.100:9982"),
                .init("camplay --start 1m --speed 2 out.mkv"),
                .init("camplay --no-window --save copy.h264 tcp://camera:9982"),
                .init("camplay --no-window --output pictures.y4m out.h265"),
                .init("camplay --no-window --frames 1 --snapshot now.png tcp://camera:9982"),
            ],
            options: [
                .init("--start TIME", "begin a file at 90s, 10m, 1h30m"),
                .init("--speed X", "play a file faster or slower: 2, 0.5"),
                .init("--fps F", "frames a second of a raw file"),
                .init("--frames N", "stop after N pictures"),
                .init("--once", "exit when the sender does"),
                .init("--no-window", "do not open a window"),
                .init("--no-sound", "do not play sound"),
                .init("--save FILE.h264", "save the stream as it is received"),
                .init("--output FILE.y4m", "write the decoded pictures"),
                .init("--snapshot FILE.png", "save the last picture"),
            ],
            more: [
                .init("F, space, M, S", "full screen, pause, mute, statistics"),
                .init("arrow keys, Q", "seek 10 s or 60 s in a file, quit"),
                .init("camplay --help", "every option"),
                .init("camplay help TOPIC", HelpTopics(helpMessage()).names.joined(separator: ", ")),
                .init("man camplay", "the manual"),
            ])
    }

    private static func give(_ answer: HelpAnswer) throws {
        switch answer {
        case .text(let text): _ = DescriptorWriter.write(text, to: STDOUT_FILENO)
        case .unknown(let reason): throw ValidationError(reason)
        }
        throw ExitStatus.done
    }
}

extension Console {
    /// Creates camplay's console.
    init(isQuiet: Bool, isVerbose: Bool, isDetached: Bool = false) {
        self.init(program: "camplay", isQuiet: isQuiet, isVerbose: isVerbose, isDetached: isDetached)
    }
}
