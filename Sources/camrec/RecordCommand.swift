import ArgumentParser
import Bitstream
import CamCommandLine
import CamNetworking
import CamPictures
import CamPlatform
import CamRecorder
import Capture
import Encoder
import Glibc
import CamStorage
import Containers

/// `camrec [record] [options] OUTPUT...`
struct RecordCommand: ParsableCommand {
    static let name = "record"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Records a camera, the test picture or a .y4m file as H.264 or H.265.",
        usage: """
            camrec [record] [<options>] <OUTPUT>...
            camrec [record] [<options>] --listen <[HOST:]PORT> [<OUTPUT>...]
            camrec snapshot [<options>] <FILE>
            camrec devices [--controls] [--json]
            camrec inspect [<options>] <FILE|->
            camrec remux <FILE> <OUTPUT>
            camrec check <FILE>...
            camrec adopt <FOLDER>...
            camrec keep <PATH>...
            camrec doctor [--encode] [--json]
            camrec ctl <SOCKET> <COMMAND>...
            """,
        discussion: """
            Examples:
              camrec --device /dev/video0 --frames 200 out.h264
              camrec --device /dev/video0 --frames 200 out.h264 out.h265
              camrec --device /dev/video0 --duration 1h out.mkv
              camrec --duration 10m --bitrate 4M --size 1280x720 out.h264
              camrec --device /dev/video0 --listen 9982 out.h264
              camrec --device test --frames 100 - | ffplay -f h264 -

            Exit codes: 0 done; 64 usage; 65 bad input file; 66 no such device or not a capture device; \
            69 no usable encoder; 73 cannot create the output or listen; 74 read or write failed; 75 device busy; 76, \
            as a service, finished with losses; 77 no permission; 79, as a service, ended at a cut for a newer version to continue; \
            129, 130, 143: stopped by a signal before recording began, or by a second one.

            All outputs share one capture, and outputs of the same codec and properties share one encoder. If one \
            fails, the others go on.

            Ctrl-C ends a recording cleanly; SIGUSR1 makes the next frame a keyframe; \
            SIGUSR2 writes what --ring has kept.
            """)

    @Argument(
        help: ArgumentHelp(
            "Files, named pipes, or - for standard output. .h264, .264 and .avc mean H.264; .h265, .265 and .hevc H.265; .mkv, .mp4 and .ts are containers; any other name needs --codec. A name may end in properties of its own rendition: sub.mkv,size=640x360,fps=5,bitrate=400k, also max-bitrate, quality, keyframe-interval and codec. Names may contain strftime's %Y, %m, ... tcp://HOST:PORT connects to a receiver; rtsp://[USER@]HOST[:PORT]/PATH, or rtsps:// encrypted, publishes on a server; srt://HOST:PORT and udp://HOST:PORT send a transport stream.",
            valueName: "OUTPUT"), completion: .file())
    var arguments: [String] = []

    @Option(name: .customLong("output"), help: .hidden)
    var settingsOutputs: [String] = []

    /// The outputs of the command line, or else of the settings file.
    var outputArguments: [OutputArgument] {
        (arguments.isEmpty ? settingsOutputs : arguments).map(OutputArgument.init)
    }

    /// The names of these outputs.
    var outputs: [String] { outputArguments.map(\.name) }

    @OptionGroup(title: "Source") var source: SourceOptions
    @OptionGroup(title: "Picture") var picture: PictureOptions
    @OptionGroup(title: "Privacy") var privacy: PrivacyOptions
    @OptionGroup(title: "Sound") var sound: SoundOptions
    @OptionGroup(title: "Length") var length: LengthOptions
    @OptionGroup(title: "Time lapse") var lapse: TimeLapseOptions
    @OptionGroup(title: "Encoder") var encoder: EncoderOptions
    @OptionGroup(title: "Rate and quality") var rate: RateOptions
    @OptionGroup(title: "Stream") var stream: StreamOptions
    @OptionGroup(title: "Segments") var segments: SegmentOptions
    @OptionGroup(title: "Motion") var motion: MotionOptions
    @OptionGroup(title: "Live") var live: LiveArguments
    @OptionGroup(title: "Output") var reporting: ReportingOptions
    @OptionGroup(title: "Settings") var settings: SettingsOptions

    func validate() throws {
        if let refusal { throw ValidationError(refusal) }
    }

    /// The renditions without duplicates, in the order of the outputs.
    var renditions: [RenditionChoice] {
        choices.map(\.rendition).reduce(into: []) { renditions, rendition in
            if !renditions.contains(rendition) { renditions.append(rendition) }
        }
    }

    /// The codecs without duplicates, in the order of the outputs.
    var codecs: [Codec] {
        renditions.map(\.codec).reduce(into: []) { codecs, codec in
            if !codecs.contains(codec) { codecs.append(codec) }
        }
    }

    /// The configuration of each rendition's encoder. If all outputs are files, frames may come late, except with
    /// a ring, whose files need the latest pictures, and in a time lapse, of which an encoder would hold back
    /// minutes or hours.
    var configurations: [CompressionProperties] {
        let choices = choices
        let areAwaited = segments.ring != nil || lapse.every != nil || !choices.allSatisfy(\.isFile)
        let renditions = renditions
        return zip(renditions, stream.configurations(renditions, rate: rate, areAwaited: areAwaited)).map {
            (rendition, configuration) in
            var configuration = configuration
            configuration.playbackRate = lapse.plan?.playbackRate
            // A raw stream has no times by which to put its pictures in order.
            guard choices.contains(where: { $0.rendition == rendition && $0.isRaw }) else {
                return configuration
            }
            configuration.bFrames = configuration.bFrames ?? 0
            return configuration
        }
    }

    /// The plans for removing segments of earlier runs with the same patterns.
    var retentionPlans: [SegmentPlan] {
        guard segments.isSegmented else { return [] }
        return choices.filter(\.isFile).map { segments.plan(path: $0.path, timestamps: $0.timestamps) }
    }

    /// The choices for each OUTPUT in order, then `--listen`, then the first output's timestamps, unless they
    /// belong to its segments. Receivers get the first file's codec, so that one encoder serves both.
    var choices: [OutputChoice] {
        let outputs = outputArguments
        let fileCodec = outputs.compactMap { Codec(fileName: $0.name) }.first
        var choices =
            outputs.map {
                let codec = $0.codec ?? stream.codec ?? (OutputName($0.name).isAddress ? fileCodec : nil)
                return OutputChoice(
                    path: $0.name, codec: codec, container: live.streamFormat.container,
                    rendition: $0.rendition)
            }
            + live.listeners.map {
                OutputChoice(
                    listeningOn: $0.address, codec: $0.argument.codec ?? stream.codec ?? fileCodec,
                    container: live.streamFormat.container, rendition: $0.argument.rendition)
            }
        guard let path = reporting.timestamps, let first = choices.first else { return choices }
        if segments.isSegmented, first.isFile, path != FileSink.standardOutput {
            choices[0].timestamps = path
            return choices
        }
        return choices + [OutputChoice(timestamps: path, of: first)]
    }

    /// The command without its files, which a previous process has recorded.
    var withoutFiles: RecordCommand {
        var command = self
        // Live outputs have the files' codec.
        command.stream.codec = stream.codec ?? outputs.compactMap(Codec.init(fileName:)).first
        command.arguments = (arguments.isEmpty ? settingsOutputs : arguments).filter {
            OutputName(OutputArgument($0).name).isAddress
        }
        command.settingsOutputs = []
        (command.reporting.timestamps, command.segments.segment, command.segments.ring) = (nil, nil, nil)
        (command.length.frames, command.length.duration, command.length.serveOn) = (nil, nil, false)
        return command
    }

    func run() throws {
        let console = Console(isQuiet: reporting.quiet, isVerbose: reporting.verbose, isDetached: true)
        defer { console.finish() }
        let control = RecordingControl()
        let signals = SignalWatch(
            program: "camrec",
            userSignals: [SIGUSR1: { control.requestKeyframe() }, SIGUSR2: { control.trigger() }])
        guard let signals else {
            console.fail(RecordingError.noResources.description)
            throw ExitStatus.inputOutput
        }
        var command = self
        command.segments.putOnClock()
        let session = RecordingSession(
            command: command, console: console, signals: signals, control: control,
            descriptors: DescriptorLimit.raise())
        let ending = session.run()
        // libavformat may still be connecting on another thread; libsrt's exit handlers would then crash.
        if ending.hasHungThread || choices.contains(where: \.isSending) {
            console.finish()
            ending.status.endProcess()
        }
        if ending.status != .done { throw ending.status }
    }
}

// MARK: Preflight

extension RecordCommand {
    /// Throws the errors that a recording would encounter later, if they can be detected before opening a
    /// device or creating a file.
    /// - Parameter time: for the dates in names.
    func preflight(at time: WallTime) throws(RecordingError) {
        do throws(CaptureError) {
            try CaptureSource.refuseImpossible(source.device, request: source.request)
        } catch { throw .capture(error) }
        do throws(NetworkError) {
            for path in socketPaths { try PathListener.refuseUnusable(path) }
        } catch { throw .output(OutputError(.network(error), output: error.address)) }
        _ = try motion.plan(crop: picture.framing.crop)
        do throws(InputError) { _ = try privacy.mask() } catch { throw .input(error) }
        do throws(OutputError) { try refusePlacesUsedTwice(at: time) } catch { throw .output(error) }
    }

    private var socketPaths: [String] {
        var paths = [live.controlSocket?.path].compactMap { $0 }
        for listener in live.listeners {
            if case .path(let path, _) = listener.address { paths.append(path) }
        }
        return paths
    }

    private func refusePlacesUsedTwice(at time: WallTime) throws(OutputError) {
        var uses: [FilePlace: String] = [:]
        for (path, use) in places(at: time) {
            // Data written to /dev/null cannot mix; standard output has its own rules.
            guard path != FileSink.standardOutput, FileIdentity(path: path) != FileIdentity(path: "/dev/null")
            else { continue }
            if let earlier = uses.updateValue(use, forKey: FilePlace(path)) {
                throw OutputError(.usedTwice(earlier), output: path)
            }
        }
    }

    /// Returns each name with its use: first files to read, then files to write.
    private func places(at time: WallTime) -> [(path: String, use: String)] {
        let source = self.source.device.map { $0 == TestSource.name ? nil : ($0, "the source") } ?? nil
        let outputs = choices.filter { if case .live = $0.form { false } else { true } }
        let timestamps = choices.compactMap(\.timestamps).map {
            (segments.names($0).name(at: time), "--timestamps")
        }
        let report = reporting.report.map { (segments.names($0).name(at: time), "--report") }
        return [source, settings.settings.map { ($0, "the settings file") }].compactMap { $0 }
            + outputs.map { ($0.dated(at: time, isUTC: segments.utc).path, use(of: $0)) }
            + timestamps + [report].compactMap { $0 } + socketPaths.map { ($0, "a socket") }
    }

    private func use(of choice: OutputChoice) -> String {
        if case .timestamps = choice.form { "--timestamps" } else { "an output" }
    }
}

/// The place that a path leads to, so that two paths to one file compare equal, whether it exists or not.
enum FilePlace: Hashable {
    case file(FileIdentity)
    /// An unused name in a folder.
    case vacant(folder: FileIdentity, name: String)
    /// A path in a missing folder, without components that change nothing.
    case unreachable([Substring])

    init(_ path: String) {
        let parts = path.split(separator: "/").filter { $0 != "." }
        if let identity = FileIdentity(path: path) {
            self = .file(identity)
        } else if let identity = FileIdentity(path: Folder.of(path)), let name = parts.last {
            self = .vacant(folder: identity, name: String(name))
        } else {
            self = .unreachable((path.hasPrefix("/") ? ["/"] : []) + parts)
        }
    }
}

// MARK: Small groups of options

/// Options for a recording's length.
struct LengthOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Stop after N frames.", valueName: "N"), transform: PlainValue.number(from: 1))
    var frames: Int?

    @Option(
        help: ArgumentHelp("Stop after a time: 90s, 10m, 1h.", valueName: "TIME"), transform: TimeSpan.read)
    var duration: TimeSpan?

    @Flag(help: "After --frames or --duration, end files only; live clients stay until Ctrl-C or SIGTERM.")
    var serveOn = false

    var limits: RecordingLimits {
        RecordingLimits(frames: frames, duration: duration?.duration, servesOn: serveOn)
    }
}

/// Options for recordings that play faster than they were captured.
struct TimeLapseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Record one frame each TIME, up to 24h: 10s, 500ms. --duration, --segment and --timestamps remain real time; rates and keyframes are those of playing.",
            valueName: "TIME"), transform: TimeSpan.reader(0.001...86400, "1ms to 24h"))
    var every: TimeSpan?

    @Option(
        help: ArgumentHelp("Frames per second at which --every plays. Default: 30.", valueName: "F"),
        completion: .frameRate, transform: FrameRate.read)
    var playbackFps: FrameRate?

    /// The time lapse; nil for a recording in real time.
    var plan: TimeLapse? {
        every.map { TimeLapse(every: $0.duration, playbackRate: playbackFps ?? .usual) }
    }
}

/// Options for messages and the report.
struct ReportingOptions: ParsableArguments {
    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Option(
        help: ArgumentHelp(
            "Write a JSON report at the end. Its name may contain strftime's %Y, %m, ... (start of the recording).",
            valueName: "FILE|-"),
        completion: .file(), transform: PlainValue.text("expected a file's name, or -"))
    var report: String?

    @Option(
        help: ArgumentHelp(
            "Write the time of each frame of the first output, for mkvmerge or 'camrec remux'.",
            valueName: "FILE|-"),
        completion: .file(), transform: PlainValue.text("expected a file's name, or -"))
    var timestamps: String?

    @Option(
        help: ArgumentHelp(
            "Start PROGRAM at once with each event: PROGRAM EVENT TIME, without a shell, with the event as JSON on standard input. Kinds: \(EventProgram.kindList); all if none is named. Its failures are warnings.",
            valueName: "PROGRAM[,KIND...]"), completion: .file(), transform: EventProgram.read)
    var onEvent: EventProgram?

    @Flag(help: "Print only warnings and errors, even on a terminal.")
    var quiet = false

    @Flag(help: "Print everything, even in a script.")
    var verbose = false
}

/// `PROGRAM`, or `PROGRAM,motion,camera`.
struct EventProgram: ExplainedArgument {
    static let requirement =
        "expected a program's path, or its name in PATH, and kinds of events: \(kindList)"
    /// The kinds, as a user reads them.
    static let kindList = RecordingEvent.Kind.allCases.map(\.rawValue).joined(separator: ", ")

    let path: String
    /// The kinds that were named; none for all.
    let kinds: Set<RecordingEvent.Kind>

    /// Only words at the end that are kinds are taken from the path.
    init?(argument: String) {
        var (rest, kinds) = (Substring(argument), Set<RecordingEvent.Kind>())
        while let comma = rest.lastIndex(of: ","),
            let kind = RecordingEvent.Kind(rawValue: String(rest[rest.index(after: comma)...]))
        {
            kinds.insert(kind)
            rest = rest[..<comma]
        }
        guard !rest.isEmpty, !rest.contains("\0") else { return nil }
        (path, self.kinds) = (String(rest), kinds)
    }

    /// Whether the program is started for an event.
    func wants(_ event: RecordingEvent) -> Bool { kinds.isEmpty || kinds.contains(event.event.kind) }
}

/// Options from a file.
struct SettingsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read options from a file of 'key = value' lines; the command line takes precedence. See 'camrec check --help'.",
            valueName: "FILE"), completion: .file(), transform: PlainValue.text("expected a file's name"))
    var settings: String?

    /// Whether that file has the `--codec` in force.
    @Flag(name: .customLong("codec-of-settings"), help: .private)
    var namesCodec = false
}
