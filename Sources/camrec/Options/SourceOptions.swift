import ArgumentParser
import Bitstream
import CamCommandLine
import CamPictures
import CamSound
import Capture
import Encoder

/// Options for the source.
struct SourceOptions: ParsableArguments {
    @Option(
        help:
            "Camera (/dev/video0, a /dev/v4l/by-id link), 'test', or FILE.y4m. Default: the first camera.",
        completion: .device, transform: PlainValue.text("expected a camera's path, test, or a .y4m file"))
    var device: String?

    @Option(
        help: ArgumentHelp("Picture size. Default: the camera's current size.", valueName: "WxH"),
        completion: .size, transform: PictureSize.read)
    var size: PictureSize?

    @Option(
        help: ArgumentHelp(
            "Frames per second: 30, 29.97, 30000/1001. Default: 30 or the camera's nearest.", valueName: "F"),
        completion: .frameRate, transform: FrameRate.read)
    var fps: FrameRate?

    @Option(
        name: .customLong("format"),
        help: ArgumentHelp(
            "Pixel format: yuyv, nv12, mjpeg, a FourCC, or h264 for the camera's own H.264.",
            valueName: "F|auto"), completion: .pixelFormat, transform: Automatic<PixelFormat>.read)
    var formatChoice: Automatic<PixelFormat> = .auto

    @Option(
        help: ArgumentHelp(
            "Input of a grabber, by number or name; 'camrec devices' lists them.", valueName: "N|NAME"),
        completion: .input,
        transform: PlainValue.text("expected an input's number or name, as 'camrec devices' lists them"))
    var input: String?

    @Option(
        help: ArgumentHelp(
            "Television standard of that input: PAL, NTSC; 'camrec devices' lists them.",
            valueName: "NAME"),
        completion: .standard, transform: PlainValue.text("expected a standard's name, as in PAL"))
    var standard: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Read test pictures and files in real time. Default: yes for test pictures, no for files.")
    var pace: Bool?

    @Option(
        help: ArgumentHelp(
            "Wait for a camera that is in use: 30s, 0 (do not wait) or forever. Default: 0.",
            valueName: "TIME"), completion: .list(["0", "forever"]), transform: Patience.read)
    var wait: Patience?

    @Option(
        help: ArgumentHelp(
            "Wait for a camera that is missing or disconnected: 30s, 0 (do not wait) or forever. Default: forever as a service or with segments; otherwise 30s, and 0 at the start.",
            valueName: "TIME"), completion: .list(["0", "forever"]), transform: Patience.read)
    var deviceTimeout: Patience?

    @Option(
        name: .customLong("control"),
        help: ArgumentHelp(
            "Set camera controls before streaming: brightness=128,auto_exposure=manual.",
            valueName: "NAME=VALUE,..."), completion: .control, transform: ControlList.read)
    var controlLists: [ControlList] = []

    @Flag(help: "Restore the previous values of the controls at the end.")
    var restoreControls = false

    /// Whether the source is a camera, not the test picture or a file.
    var isCamera: Bool { device.map { !CaptureSource.isBuiltIn($0) } ?? true }

    /// Whether the source's capture times are those of this machine's clock.
    var isInRealTime: Bool { isCamera || device == TestSource.name && pace != false }

    var format: PixelFormat? { formatChoice.value }

    var request: CaptureRequest {
        var request = CaptureRequest(size: size, frameRate: fps, pixelFormat: format)
        (request.input, request.standard) = (input, standard)
        request.controls = controlLists.flatMap(\.settings)
        request.restoresControls = restoreControls
        return request
    }
}

// MARK: Values of options

extension PictureSize: ExplainedArgument {
    public static let requirement = "expected width and height in pixels, as in 1280x720, up to 16384x16384"

    /// `640x480`
    public init?(argument: String) { self.init(argument) }
}

extension FrameRate: ExplainedArgument {
    public static let requirement = "expected frames a second, as in 30, 29.97 or 30000/1001, up to 1000000"

    /// `30`, `29.97`, `30000/1001`
    public init?(argument: String) { self.init(argument) }
}

extension PixelFormat: ExplainedArgument {
    public static let requirement =
        "expected yuyv, nv12, mjpeg, another FourCC, or h264 for the camera's own H.264"

    /// A FourCC or a common name.
    public init?(argument: String) { self.init(argument) }
}

/// How long to wait: a time, `0`, or `forever`.
struct Patience: ExplainedArgument {
    static let requirement = "expected a time such as 30s or 10m, 0, or forever"

    /// Nil for an endless wait.
    let duration: Duration?

    static let forever = Patience(nil)
    static let none = Patience(.zero)

    init(_ duration: Duration?) { self.duration = duration }

    init?(argument: String) {
        switch argument {
        case "forever": duration = nil
        case "0": duration = .zero
        default:
            guard let time = TimeSpan(argument: argument) else { return nil }
            duration = time.duration
        }
    }
}

/// `brightness=128,auto_exposure=manual`
struct ControlList: ExplainedArgument {
    static let requirement =
        "expected NAME=VALUE, as in brightness=128; 'camrec devices --controls' lists the names"

    let settings: [ControlSetting]

    init?(argument: String) {
        guard let settings = ControlSetting.list(argument) else { return nil }
        self.settings = settings
    }
}

// MARK: Sound

/// Options for the sound that belongs to the pictures.
struct SoundOptions: ParsableArguments {
    @Flag(
        help:
            "Record sound as well: from the camera's own microphone, else from ALSA's default. Raw streams stay pictures alone."
    )
    var audio = false

    @Option(
        help: ArgumentHelp(
            "Record sound from this microphone: ALSA's name, as 'camrec devices' prints it, default, test for a tone, or none. Without it, --audio chooses.",
            valueName: "NAME"), completion: .list(["default", "test", "none"]))
    var audioDevice: String?

    @Option(
        help: ArgumentHelp("How sound is coded: aac, opus or flac. Default: aac.", valueName: "CODEC"),
        completion: .list(SoundCodec.allCases.map(\.rawValue)))
    var audioCodec: SoundCodec?

    @Option(
        help: ArgumentHelp(
            "Bits a second of sound, 16k to 512k. Default: for each channel 64k with aac, 48k with opus.",
            valueName: "RATE"), transform: soundBitRate)
    var audioBitrate: BitsPerSecond?

    /// Reads a bit rate of sound: speech is not understood below these rates, and higher ones sound no better.
    @Sendable private static func soundBitRate(_ text: String) throws -> BitsPerSecond {
        guard let rate = BitsPerSecond(text), (16_000...512_000).contains(rate.value) else {
            throw ValidationError("expected 16k to 512k bits a second, as in 96k")
        }
        return rate
    }

    /// The name for no microphone.
    static let none = "none"

    /// Whether sound is recorded.
    var isWanted: Bool { audioDevice.map { $0 != Self.none } ?? audio }

    /// The codec of the sound.
    var codec: SoundCodec { audioCodec ?? .aac }
}

extension SoundCodec: ExplainedArgument {
    public static let requirement = "expected aac, opus or flac"
}
