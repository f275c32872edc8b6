import ArgumentParser
import Bitstream
import CamAcceleration
import CamCommandLine
import CamNetworking
import CamPictures
import CamPlatform
import Decoder
import Glibc
import Containers

// MARK: Source

/// The source of the stream.
enum SourceChoice: ExplainedArgument {
    static let requirement = "expected tcp://HOST:PORT, listen://[HOST:]PORT, a file, or -"

    case file(String)
    case standardInput
    /// Connects to a sender.
    case sender(SocketAddress)
    /// Waits for a sender.
    case listener(SocketAddress)

    init?(argument: String) {
        if argument.hasPrefix("tcp://") {
            guard let address = SocketAddress(url: argument, scheme: "tcp"), address.port > 0 else {
                return nil
            }
            self = .sender(address)
        } else if argument.hasPrefix("listen://") {
            guard let address = SocketAddress(url: argument, scheme: "listen") else { return nil }
            self = .listener(address)
        } else if argument == FileSink.standardOutput {
            self = .standardInput
        } else if argument.isEmpty || argument.contains("://") {
            return nil
        } else {
            self = .file(argument)
        }
    }

    /// Reads the argument; for an address of another kind, says which player has it.
    static func read(_ argument: String) throws -> SourceChoice {
        if let choice = SourceChoice(argument: argument) { return choice }
        throw ValidationError(
            player(for: argument).map { "camplay does not read it; use \($0)" } ?? requirement)
    }

    /// A player for an address that camplay does not read, as a command line; nil for anything else.
    private static func player(for address: String) -> String? {
        guard let end = address.firstRange(of: "://")?.lowerBound else { return nil }
        return switch address[..<end] {
        case "rtsp", "rtsps": "ffplay -rtsp_transport tcp '\(address)', or mpv"
        case "srt", "udp", "rtp", "rtmp", "http", "https": "ffplay '\(address)', or mpv"
        case "file": "the file's path alone"
        default: nil
        }
    }

    /// Whether its pictures have no time other than their arrival: a pipe is assumed to be live.
    var isLive: Bool {
        switch self {
        case .file: false
        case .standardInput: !FileSource.isFile(STDIN_FILENO)
        case .sender, .listener: true
        }
    }

    /// Whether the stream may break and come back.
    var isConnection: Bool {
        switch self {
        case .sender, .listener: true
        case .file, .standardInput: false
        }
    }
}

// MARK: Options

/// How the stream is received and decoded.
struct ReadingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("h264 or hevc. Default: detected.", valueName: "CODEC"))
    var codec: Codec?

    @Option(
        help: ArgumentHelp(
            "After a loss, freeze until the next keyframe or show damaged pictures.", valueName: "MODE"))
    var onLoss: DecoderConfiguration.LossPolicy = .freeze

    @Option(
        help: ArgumentHelp(
            "auto (the default: a GPU, but not Intel's for H.265, else software), software, or a render node.",
            valueName: "MODE"),
        completion: DecoderChoice.completion, transform: DecoderChoice.read)
    var decoder: DecoderChoice = .auto

    @Option(
        help: ArgumentHelp("Start at this time in a file: 90s, 10m, 1h.", valueName: "TIME"),
        transform: TimeSpan.readPlace)
    var start: TimeSpan?

    @Option(
        help: ArgumentHelp("File with the avcC or hvcC of an .avcc file.", valueName: "FILE"),
        completion: .file(), transform: PlainValue.text("expected a file's name"))
    var record: String?

    @Option(
        help: ArgumentHelp("Stop after N pictures.", valueName: "N"),
        transform: PlainValue.number(from: 1))
    var frames: Int?

    @Flag(help: "Exit when the sender does, instead of waiting for it to return.")
    var once = false
}

/// How pictures are shown.
struct ShowingOptions: ParsableArguments {
    @Flag(help: "Do not open a window.")
    var noWindow = false

    @Flag(help: "Do not play sound.")
    var noSound = false

    @Option(
        help: ArgumentHelp("Play a file faster or slower: 0.5, 2. Default: 1.", valueName: "X"),
        transform: Self.readSpeed)
    var speed = 1.0

    @Option(
        help: ArgumentHelp(
            "Frames per second of a file, overriding its own: 30, 29.97, 30000/1001.", valueName: "F"),
        transform: FramesPerSecond.read)
    var fps: FramesPerSecond?

    @Option(
        help: ArgumentHelp("Times of a raw file, as written by camrec --timestamps.", valueName: "FILE"),
        completion: .file(), transform: PlainValue.text("expected a file's name"))
    var timestamps: String?

    private static func readSpeed(_ text: String) throws -> Double {
        let (number, unit) = text.splitUnit()
        guard unit.isEmpty, let speed = number, (0.01...100).contains(speed) else {
            throw ValidationError("expected a number, 0.01 to 100")
        }
        return speed
    }

    /// Whether the options determine when pictures are shown.
    var givesTimes: Bool { speed != 1 || fps != nil || timestamps != nil }

    func validate() throws {
        if fps != nil, timestamps != nil {
            throw ValidationError("--timestamps excludes --fps; leave one out")
        }
    }
}

/// The files to write.
struct WritingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write the pictures as .y4m, .yuv (raw samples), or - for standard output (.y4m if yuv420p, else raw).",
            valueName: "FILE|-"
        ), completion: .file(), transform: Self.fileName)
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Save the stream as received, from the first keyframe on.", valueName: "FILE.h264|.h265"),
        completion: .file(), transform: Self.fileName)
    var save: String?

    @Option(
        help: ArgumentHelp("Save the last picture.", valueName: "FILE.png"), completion: .file(),
        transform: Self.fileName)
    var snapshot: String?

    @Option(help: ArgumentHelp("Pixel format of .yuv and -.", valueName: "FORMAT"))
    var pixelFormat: PictureLayout = .yuv420p

    @Option(
        help: ArgumentHelp("Scale the written pictures, up to 16000x16000.", valueName: "WxH"),
        transform: ScaledSize.read)
    var scale: ScaledSize?

    @Option(
        help: ArgumentHelp("Write a JSON report of the received stream.", valueName: "FILE|-"),
        completion: .file(), transform: Self.fileName)
    var report: String?

    @Flag(help: "Replace existing files.")
    var overwrite = false

    private static let fileName = PlainValue.text("expected a file's name, or -")

    func validate() throws {
        let files = [output, save, snapshot, report].compactMap { $0 }
        if files.filter({ $0 == FileSink.standardOutput }).count > 1 {
            throw ValidationError("only one output can be standard output; name files for the others")
        }
        if let output, output != FileSink.standardOutput, PictureFile.Form(path: output) == nil {
            throw ValidationError("'\(output)' must be named .y4m or .yuv; give it such a name")
        }
        if let snapshot, snapshot.hasPrefix("/dev/") == false, !snapshot.lowercased().hasSuffix(".png") {
            throw ValidationError("'\(snapshot)' must be named .png; give it such a name")
        }
        if let save, let container = ContainerFormat(path: save) {
            throw ValidationError(
                "--save writes the raw stream; name it .h264 or .h265, and 'camrec remux' makes .\(container.rawValue) of it"
            )
        }
        if let output, PictureFile.Form(path: output) == .y4m, pixelFormat != .yuv420p {
            throw ValidationError(".y4m is yuv420p; write \(pixelFormat.rawValue) into a .yuv file")
        }
        if output == nil, pixelFormat != .yuv420p {
            throw ValidationError("--pixel-format is for --output; add that, or leave it out")
        }
        if output == nil, snapshot == nil, scale != nil {
            throw ValidationError("--scale is for --output and --snapshot; add one, or leave it out")
        }
    }
}

extension Codec: ExpressibleByArgument {
    /// The name of a case, or `h265`.
    public init?(argument: String) { self.init(name: argument) }
}
extension DecoderConfiguration.LossPolicy: ExpressibleByArgument {}
extension PictureLayout: ExpressibleByArgument {}

// MARK: Values of options

/// Which decoder to use.
enum DecoderChoice: ExplainedArgument {
    static let requirement = "expected auto, software, or a render node as in /dev/dri/renderD128"

    case auto, software
    /// This render node if it works, otherwise software.
    case renderNode(String)

    init?(argument: String) {
        switch argument {
        case "auto": self = .auto
        case "software": self = .software
        case let path where path.hasPrefix("/"): self = .renderNode(path)
        default: return nil
        }
    }

    /// The shell's completions.
    static let completion = CompletionKind.custom { _, _, _ in ["auto", "software"] + RenderNode.all() }

    var acceleration: DecoderConfiguration.Acceleration {
        switch self {
        case .auto: .automatic
        case .software: .none
        case .renderNode(let path): .renderNode(path)
        }
    }
}

/// `640x480`
struct ScaledSize: ExplainedArgument {
    static let requirement = "expected a size as in 640x480, to 16000x16000"

    let width: Int
    let height: Int

    /// libswscale's maximum, and more than any display has; libavutil also limits the area
    /// (av_image_check_size).
    private static let limit = 16384

    init?(argument: String) {
        let parts = argument.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1],
            (1...Self.limit).contains(width), (1...Self.limit).contains(height),
            (width + 128) * (height + 128) < Int(Int32.max) / 8
        else { return nil }
        (self.width, self.height) = (width, height)
    }
}

/// `30`, `29.97`, `30000/1001`
struct FramesPerSecond: ExplainedArgument {
    static let requirement = "expected 0.01 to 1000 frames a second, as in 30, 29.97 or 30000/1001"

    let rate: FrameRate

    init?(argument: String) {
        guard let found = FrameRate(argument), (0.01...1000).contains(found.framesPerSecond) else {
            return nil
        }
        rate = found
    }
}
