import ArgumentParser
import Bitstream
import Capture
import Encoder
import Glibc
import Network
import Output
import Recorder
import Terminal

/// `camrec [record] [options] OUTPUT...`
struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Records a camera, the test picture or a .y4m file as H.264 and H.265.",
        usage: """
            camrec [record] [<options>] <OUTPUT>...
            camrec [record] [<options>] --listen <[HOST:]PORT> [<OUTPUT>...]
            camrec devices [--json]
            camrec inspect [<options>] <FILE|->
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
            69 no usable encoder; 73 cannot create the output or listen; 74 read or write failed; 75 device busy; \
            77 no permission; 130, 143: stopped by a signal before recording began, or by a second one.

            Several outputs share one capture, and those of one codec share one encoder. One that fails does \
            not stop the others.

            Ctrl-C ends a recording cleanly; SIGUSR1 makes the next frame a keyframe.
            """)

    @Argument(
        help: ArgumentHelp(
            "Files, named pipes, or - for standard output. .h265, .265 and .hevc mean H.265; .mkv, .mp4 and .ts are containers; tcp://HOST:PORT connects to a receiver.",
            valueName: "OUTPUT"))
    var outputs: [String] = []

    @OptionGroup(title: "Source") var source: SourceOptions
    @OptionGroup(title: "Length") var length: LengthOptions
    @OptionGroup(title: "Encoder") var encoder: EncoderOptions
    @OptionGroup(title: "Rate and quality") var rate: RateOptions
    @OptionGroup(title: "Stream") var stream: StreamOptions
    @OptionGroup(title: "Live") var live: LiveArguments
    @OptionGroup(title: "Output") var reporting: ReportingOptions

    func validate() throws {
        let toStandardOutput = outputs.count { $0 == FileSink.standardOutput }
        if outputs.isEmpty, live.listen == nil {
            throw ValidationError("no OUTPUT is given, and no --listen")
        }
        if let url = outputs.first(where: { $0.hasPrefix("\(OutputChoice.scheme)://") && !Self.isAddress($0) }
        ) {
            throw ValidationError("'\(url)' is no address: use \(OutputChoice.scheme)://HOST:PORT")
        }
        if toStandardOutput > 0, reporting.report == FileSink.standardOutput {
            throw ValidationError("'-' and '--report -' both want standard output")
        }
        if toStandardOutput > 0, reporting.timestamps == FileSink.standardOutput {
            throw ValidationError("'-' and '--timestamps -' both want standard output")
        }
        if toStandardOutput > 1 { throw ValidationError("'-' is given twice") }
        if outputs.count > Self.mostOutputs {
            throw ValidationError("\(outputs.count) outputs, more than \(Self.mostOutputs)")
        }
        if outputs.contains("") { throw ValidationError("the output's name is empty") }
        if let name = outputs.compactMap(OutputChoice.foreignContainer).first {
            throw ValidationError(
                "camrec does not write \(name); use .mkv, .mp4, .ts or a raw .h264 or .h265")
        }
        if source.format == .h264, encoder.encoder != .auto {
            throw ValidationError("--format h264 takes the camera's own coding; leave out --encoder")
        }
    }

    private static func isAddress(_ url: String) -> Bool {
        SocketAddress(url: url, scheme: OutputChoice.scheme).map { $0.port != 0 } ?? false
    }

    private static let mostOutputs = 32

    /// What each OUTPUT means, in their order, then `--listen`, and the timestamps of the first.
    var choices: [OutputChoice] {
        let choices =
            outputs.map { OutputChoice(path: $0, codec: stream.codec) }
            + [live.listen].compactMap { $0 }.map {
                OutputChoice(listeningOn: $0, codec: stream.codec)
            }
        guard let path = reporting.timestamps, let first = choices.first else { return choices }
        return choices + [OutputChoice(timestamps: path, of: first)]
    }

    func run() throws {
        let console = Console(isQuiet: reporting.quiet, isVerbose: reporting.verbose)
        let control = RecordingControl()
        guard let signals = SignalWatch(program: "camrec", onUserSignal: { control.requestKeyframe() }) else {
            console.fail(RecordingError.noResources.description)
            throw ExitStatus.inputOutput
        }
        let session = RecordingSession(
            command: self, console: console, signals: signals, control: control)
        let status = session.run()
        if status != .done { throw status }
    }
}

/// Where pictures come from.
struct SourceOptions: ParsableArguments {
    @Option(
        help: "A camera (/dev/video0, a /dev/v4l/by-id link), 'test', or FILE.y4m. Default: the first camera."
    )
    var device: String?

    @Option(help: ArgumentHelp("Picture size. Default: what the camera is set to.", valueName: "WxH"))
    var size: PictureSize?

    @Option(
        help: ArgumentHelp(
            "Frames a second: 30, 29.97, 30000/1001. Default: 30 or the camera's nearest.", valueName: "F"))
    var fps: FrameRate?

    @Option(
        name: .customLong("format"),
        help: ArgumentHelp(
            "Pixel format: yuyv, nv12, mjpeg, a FourCC, or h264 for the camera's own coding.",
            valueName: "F|auto"))
    var formatChoice: Automatic<PixelFormat> = .auto

    @Flag(
        inversion: .prefixedNo,
        help: "Take test pictures and files in real time. Default: test yes, files no.")
    var pace: Bool?

    var format: PixelFormat? { formatChoice.value }

    var request: CaptureRequest { CaptureRequest(size: size, frameRate: fps, pixelFormat: format) }
}

/// When it ends.
struct LengthOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Stop after N frames.", valueName: "N"))
    var frames: Int?

    @Option(help: ArgumentHelp("Stop after a time: 90s, 10m, 1h.", valueName: "TIME"))
    var duration: TimeSpan?

    func validate() throws {
        if let frames, frames < 1 { throw ValidationError("--frames must be at least 1") }
    }

    var limits: RecordingLimits {
        RecordingLimits(frames: frames, duration: duration.map { Int64($0.seconds * 1e9) })
    }
}

/// What encodes.
struct EncoderOptions: ParsableArguments {
    @Option(help: "Which encoder.")
    var encoder: EncoderRequest.Preference = .auto

    @Option(help: ArgumentHelp("The GPU to use, and no other: /dev/dri/renderD128.", valueName: "PATH"))
    var renderNode: String?

    @Option(help: "The GPU's low-power encoder (EncSliceLP).")
    var lowPower: EncoderRequest.LowPower = .auto

    func validate() throws {
        if encoder == .software, renderNode != nil || lowPower != .auto {
            throw ValidationError("--encoder software excludes --render-node and --low-power")
        }
    }

    var request: EncoderRequest {
        var request = EncoderRequest()
        request.preference = encoder
        request.renderNode = renderNode
        request.lowPower = lowPower
        return request
    }
}

/// How many bits.
struct RateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Average bit rate: 4M, 800k. Default: 0.1 bit a pixel, 0.06 of H.265.", valueName: "RATE"))
    var bitrate: BitsPerSecond?

    @Option(
        help: ArgumentHelp(
            "Highest bit rate over the window. Default: half as much again.", valueName: "RATE"))
    var maxBitrate: BitsPerSecond?

    @Option(help: ArgumentHelp("The window of the highest rate. Default: 1s.", valueName: "TIME"))
    var rateWindow: TimeSpan?

    @Option(help: ArgumentHelp("Constant quantiser, 1 (best) to 51.", valueName: "N"))
    var qp: Int?

    @Option(help: ArgumentHelp("Constant quality, 1 (best) to 51.", valueName: "N"))
    var quality: Int?

    @Option(help: "Rate-control mode.")
    var rateControl: Automatic<RateControl.Mode> = .auto

    func validate() throws {
        if let qp, !(1...51).contains(qp) { throw ValidationError("--qp must be 1 to 51") }
        if let quality, !(1...51).contains(quality) { throw ValidationError("--quality must be 1 to 51") }
        if qp != nil, quality != nil || bitrate != nil || maxBitrate != nil {
            throw ValidationError("--qp excludes --quality, --bitrate and --max-bitrate")
        }
        try validateMode()
        if let bitrate, let maxBitrate, maxBitrate.value < bitrate.value {
            throw ValidationError("--max-bitrate is below --bitrate")
        }
        if let rateWindow, rateWindow.seconds > 60 {
            throw ValidationError("--rate-window must be at most 60s")
        }
    }

    /// What a mode that is asked for by name has no use for.
    private func validateMode() throws {
        let hasRate = bitrate != nil || maxBitrate != nil || rateWindow != nil
        guard let mode = rateControl.value else {
            if qp != nil, rateWindow != nil { throw ValidationError("--qp excludes --rate-window") }
            return
        }
        let useless: String? =
            switch mode {
            case .cbr where maxBitrate != nil && maxBitrate?.value != bitrate?.value: "--max-bitrate"
            case .cbr where qp != nil || quality != nil, .vbr where qp != nil || quality != nil:
                "--qp and --quality"
            case .cqp where hasRate || quality != nil: "--bitrate, --max-bitrate, --rate-window and --quality"
            case .icq where hasRate || qp != nil: "--bitrate, --max-bitrate, --rate-window and --qp"
            case .qvbr where qp != nil: "--qp"
            default: nil
            }
        if let useless {
            throw ValidationError("--rate-control \(mode.rawValue) has no use for \(useless)")
        }
    }

    var request: RateControlRequest {
        var request = RateControlRequest()
        request.mode = rateControl.value
        request.bitRate = bitrate?.value
        request.maximumBitRate = maxBitrate?.value
        request.window = rateWindow?.seconds ?? 1
        request.quantizer = qp
        request.quality = quality
        return request
    }
}

/// What the stream looks like.
struct StreamOptions: ParsableArguments {
    @Option(help: "H.264 or H.265. Default: what each output's name says, else h264.")
    var codec: Codec?

    @Option(
        help: ArgumentHelp(
            "Distance of keyframes: 50 frames or 2s. Default: one a second.", valueName: "N|TIME"))
    var keyframeInterval: KeyframeDistance?

    @Option(help: "Profile; H.265 has main. Default: the best that the encoder has.")
    var profile: EncoderConfiguration.Profile?

    @Option(help: ArgumentHelp("Level: 4.1. Default: the lowest that fits.", valueName: "LEVEL|auto"))
    var level: Automatic<Level> = .auto

    @Option(help: "H.264's entropy coding. Default: CABAC where the profile has it.")
    var entropy: EncoderConfiguration.EntropyMode?

    @Option(help: ArgumentHelp("B frames in a row at most; they reorder and delay.", valueName: "N"))
    var bframes = 0

    @Option(help: ArgumentHelp("Frames that the encoder may hold back.", valueName: "N"))
    var maxFrameDelay: Int?

    @Option(help: "Every frame at once, or better pictures later.")
    var latency: EncoderConfiguration.Latency = .realtime

    @Option(help: ArgumentHelp("limited or full. Default: the camera's.", valueName: "RANGE"))
    var colorRange: ColorEncoding.Range?

    @Option(help: ArgumentHelp("bt601, bt709 or bt2020. Default: the camera's.", valueName: "MATRIX"))
    var colorMatrix: MatrixName?

    @Option(help: ArgumentHelp("Slices a picture, 1 to 32.", valueName: "N"))
    var slices = 1

    func validate() throws {
        guard (0...16).contains(bframes) else { throw ValidationError("--bframes must be 0 to 16") }
        guard (1...32).contains(slices) else { throw ValidationError("--slices must be 1 to 32") }
        if let maxFrameDelay, !(0...250).contains(maxFrameDelay) {
            throw ValidationError("--max-frame-delay must be 0 to 250")
        }
    }

    /// The configuration of each codec. Where there are several, one does not get what only another has.
    func configurations(_ codecs: [Codec], rate: RateOptions) -> [EncoderConfiguration] {
        codecs.map { codec in
            var configuration = configuration(codec, rate: rate)
            guard codecs.count > 1 else { return configuration }
            if profile?.isDefined(in: codec) == false { configuration.profile = nil }
            if codec == .hevc { configuration.entropyMode = nil }
            return configuration
        }
    }

    private func configuration(_ codec: Codec, rate: RateOptions) -> EncoderConfiguration {
        var configuration = EncoderConfiguration()
        configuration.codec = codec
        configuration.profile = profile
        configuration.level = level.value
        configuration.entropyMode = entropy
        configuration.rateControl = rate.request
        configuration.keyframeInterval = keyframeInterval?.interval
        configuration.bFrames = bframes
        configuration.maximumFrameDelay = maxFrameDelay
        configuration.latency = latency
        configuration.slices = slices
        configuration.colorRange = colorRange
        configuration.colorMatrix = colorMatrix?.matrix
        return configuration
    }
}

/// What is said, and where.
struct ReportingOptions: ParsableArguments {
    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Option(help: ArgumentHelp("Write a JSON report at the end.", valueName: "FILE|-"))
    var report: String?

    @Option(
        help: ArgumentHelp(
            "Write the time of each frame of the first output, for mkvmerge or 'camrec remux'.",
            valueName: "FILE|-"))
    var timestamps: String?

    @Flag(help: "Say nothing but warnings and errors, even on a terminal.")
    var quiet = false

    @Flag(help: "Say everything, even in a script.")
    var verbose = false

    func validate() throws {
        if timestamps == "" || report == "" { throw ValidationError("a file's name is empty") }
        if timestamps == FileSink.standardOutput, report == FileSink.standardOutput {
            throw ValidationError("'--report -' and '--timestamps -' both want standard output")
        }
        if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other") }
    }
}
