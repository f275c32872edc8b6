import ArgumentParser
import Bitstream
import CamCommandLine
import CamPictures
import CamRecorder
import Capture
import Encoder

/// Options that choose the encoder.
struct EncoderOptions: ParsableArguments {
    @Option(help: "Encoder.")
    var encoder: EncoderRequest.Preference = .auto

    @Option(
        help: ArgumentHelp("Use only this GPU: /dev/dri/renderD128.", valueName: "PATH"),
        completion: .renderNode, transform: PlainValue.text("expected a path, as in /dev/dri/renderD128"))
    var renderNode: String?

    @Option(help: "Use the GPU's low-power encoder (EncSliceLP).")
    var lowPower: EncoderRequest.LowPower = .auto

    @Option(help: "How to upload pictures to the GPU; auto maps surfaces if the driver does that correctly.")
    var upload: UploadMethod = .auto

    @Option(help: "What decodes a camera's Motion JPEG; auto is the GPU if it does that correctly.")
    var jpeg: JPEGMode = .auto

    @Option(
        help:
            "Whether the GPU reads a camera's NV12, YUYV or UYVY without a copy; auto if it does so correctly."
    )
    var zeroCopy: ZeroCopyMode = .auto

    var request: EncoderRequest {
        var request = EncoderRequest()
        request.preference = encoder
        request.renderNode = renderNode
        request.lowPower = lowPower
        request.upload = upload
        request.jpeg = jpeg
        request.zeroCopy = zeroCopy
        return request
    }
}

/// Options for the bit rate.
struct RateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Average bit rate: 4M, 800k. Default: 0.1 bit per pixel, 0.06 for H.265.", valueName: "RATE"),
        transform: BitsPerSecond.read)
    var bitrate: BitsPerSecond?

    @Option(
        help: ArgumentHelp(
            "Highest bit rate in any --rate-window. Default: 4 times the average.", valueName: "RATE"),
        transform: BitsPerSecond.read)
    var maxBitrate: BitsPerSecond?

    @Option(
        help: ArgumentHelp(
            "Time window in which --max-bitrate and CBR hold. Default: 1s.", valueName: "TIME"),
        transform: TimeSpan.reader(0.001...60, "1ms to 60s"))
    var rateWindow: TimeSpan?

    @Option(
        help: ArgumentHelp("Constant quantiser, 1 (best) to 51.", valueName: "N"),
        transform: PlainValue.number(1...51))
    var qp: Int?

    @Option(
        help: ArgumentHelp("Constant quality, 1 (best) to 51.", valueName: "N"),
        transform: PlainValue.number(1...51))
    var quality: Int?

    @Option(help: "Rate-control mode.")
    var rateControl: Automatic<RateControl.Mode> = .auto

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

    /// The request for a rendition: its own rates in place of these, of which none is meant for pictures of its own.
    func request(for rendition: RenditionChoice) -> RateControlRequest { options(for: rendition).request }

    /// These options as a rendition changes them.
    func options(for rendition: RenditionChoice) -> RateOptions {
        var options = self
        if rendition.hasOwnPictures { (options.bitrate, options.maxBitrate) = (nil, nil) }
        if rendition.bitRate != nil || rendition.quality != nil {
            (options.bitrate, options.quality, options.qp) = (nil, rendition.quality, nil)
        }
        if let rate = rendition.bitRate { options.bitrate = BitsPerSecond("\(rate)") }
        if let rate = rendition.maximumBitRate { options.maxBitrate = BitsPerSecond("\(rate)") }
        return options
    }
}

/// Options for the stream.
struct StreamOptions: ParsableArguments {
    @Option(
        help: "h264 or hevc. Default: from each output's name, else h264.", completion: .codec,
        transform: Codec.read)
    var codec: Codec?

    @Option(
        help: ArgumentHelp(
            "Keyframe interval: 50 frames, 2s of capture, or 50,2s (whichever comes first). Default: 1s.",
            valueName: "N|TIME"), transform: KeyframeDistance.read)
    var keyframeInterval: KeyframeDistance?

    @Option(help: "Profile; H.265 has only main. Default: the encoder's best.")
    var profile: CompressionProperties.Profile?

    @Option(
        help: ArgumentHelp("Level: 4.1. Default: the lowest that fits.", valueName: "LEVEL|auto"),
        completion: .list(["auto"]), transform: Automatic<Level>.read)
    var level: Automatic<Level> = .auto

    @Option(help: "H.264 entropy coding. Default: CABAC if the profile has it.")
    var entropy: CompressionProperties.EntropyMode?

    @Option(
        help: ArgumentHelp(
            "Maximum number of consecutive B frames; they add reordering and delay. Default: up to 3 from libx264 if all outputs of its stream are .mkv, .mp4 or .ts and may wait, else 0.",
            valueName: "N"),
        transform: PlainValue.number(0...16))
    var bframes: Int?

    @Option(
        help: ArgumentHelp("Maximum number of frames that the encoder may hold back.", valueName: "N"),
        transform: PlainValue.number(0...250))
    var maxFrameDelay: Int?

    @Option(
        help:
            "realtime: each frame at once. throughput: libx264 and libx265 use all processors, up to two seconds later. quality: better pictures, later. auto: throughput if all outputs are files, else realtime; also with --ring."
    )
    var latency: Automatic<CompressionProperties.Latency> = .auto

    @Option(
        help: ArgumentHelp("Color range: limited or full. Default: as the camera.", valueName: "RANGE"),
        completion: .list(ColorEncoding.Range.allCases.map(\.rawValue)), transform: ColorEncoding.Range.read)
    var colorRange: ColorEncoding.Range?

    @Option(
        help: ArgumentHelp(
            "Color matrix: bt601, bt709 or bt2020. Default: as the camera.", valueName: "MATRIX"))
    var colorMatrix: MatrixName?

    @Option(
        help: ArgumentHelp("Slices per picture, 1 to 32. Default: 1.", valueName: "N"),
        transform: PlainValue.number(1...32))
    var slices = 1

    @Flag(
        help: "Put each picture's capture time into the stream (MISB ST 0604): a raw stream then has a clock."
    )
    var stamp = false

    /// Returns each rendition's configuration. With several codecs, options of only one are left out of the others.
    /// - Parameter areAwaited: whether a receiver may be waiting for the frames.
    func configurations(
        _ renditions: [RenditionChoice], rate: RateOptions, areAwaited: Bool
    ) -> [CompressionProperties] {
        let hasSeveralCodecs = Set(renditions.map(\.codec)).count > 1
        return renditions.map { rendition in
            var configuration = configuration(rendition, rate: rate, isAwaited: areAwaited)
            guard hasSeveralCodecs else { return configuration }
            if profile?.isDefined(in: rendition.codec) == false { configuration.profile = nil }
            if rendition.codec == .hevc { configuration.entropyMode = nil }
            return configuration
        }
    }

    private func configuration(
        _ rendition: RenditionChoice, rate: RateOptions, isAwaited: Bool
    ) -> CompressionProperties {
        var configuration = CompressionProperties()
        (configuration.size, configuration.frameRate) = (rendition.size, rendition.frameRate)
        configuration.codec = rendition.codec
        configuration.profile = profile
        configuration.level = level.value
        configuration.entropyMode = entropy
        configuration.rateControl = rate.request(for: rendition)
        if let interval = rendition.keyframeInterval ?? keyframeInterval?.interval {
            configuration.keyframeInterval = interval
        }
        configuration.bFrames = bframes ?? (isAwaited ? 0 : nil)
        configuration.maximumFrameDelay = maxFrameDelay
        configuration.latency = latency.value ?? (isAwaited ? .realtime : .throughput)
        configuration.slices = slices
        configuration.statesCaptureTime = stamp
        configuration.colorRange = colorRange
        configuration.colorMatrix = colorMatrix?.matrix
        return configuration
    }
}

// MARK: Values of options

extension Level: ExplainedArgument {
    public static let requirement = "expected a level of the standard, as in 4.1"

    /// `4.1`
    public init?(argument: String) { self.init(argument) }
}

extension Codec: ExplainedArgument {
    public static let requirement = "expected h264, or hevc for H.265"

    /// The name of a case, or `h265`.
    public init?(argument: String) { self.init(name: argument) }
}

extension EncoderRequest.Preference: ExpressibleByArgument {}
extension EncoderRequest.LowPower: ExpressibleByArgument {}
extension UploadMethod: ExpressibleByArgument {}
extension JPEGMode: ExpressibleByArgument {}
extension ZeroCopyMode: ExpressibleByArgument {}
extension CompressionProperties.Profile: ExpressibleByArgument {}
extension CompressionProperties.EntropyMode: ExpressibleByArgument {}
extension CompressionProperties.Latency: ExpressibleByArgument {}
extension RateControl.Mode: ExpressibleByArgument {}

extension ColorEncoding.Range: ExplainedArgument {
    public static let requirement = "expected limited or full"
}

/// `auto`, or a value.
struct Automatic<Value: ExpressibleByArgument>: ExpressibleByArgument {
    /// Nil for `auto`.
    let value: Value?

    static var auto: Automatic { Automatic(value: nil) }

    private init(value: Value?) { self.value = value }

    init?(argument: String) {
        if argument == "auto" {
            value = nil
        } else if let value = Value(argument: argument) {
            self.value = value
        } else {
            return nil
        }
    }

    var defaultValueDescription: String { "auto" }

    static var allValueStrings: [String] {
        Value.allValueStrings.isEmpty ? [] : ["auto"] + Value.allValueStrings
    }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension Automatic: ExplainedArgument where Value: ExplainedArgument {
    static var requirement: String { "\(Value.requirement), or auto" }
}

/// `bt601`, `bt709`, `bt2020`.
struct MatrixName: ExpressibleByArgument {
    let matrix: ColorEncoding.Matrix

    init?(argument: String) {
        guard let named = ColorEncoding.Matrix.supported.first(where: { "\($0)" == argument }) else {
            return nil
        }
        matrix = named
    }

    static var allValueStrings: [String] { ColorEncoding.Matrix.supported.map { "\($0)" } }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension BitsPerSecond: ExplainedArgument {
    /// `4M`, `800k`, `4000000`
    public init?(argument: String) { self.init(argument) }
}

/// Frames (`50`), a time (`2s`), or both, whichever comes first (`50,2s`).
struct KeyframeDistance: ExplainedArgument {
    static let requirement = "expected frames (1 to 1000000), a time, or both: 50, 2s, or 50,2s"

    let interval: KeyframeInterval

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let counts = parts.compactMap { Int($0) }
        let times = parts.filter { Int($0) == nil }.compactMap { TimeSpan(argument: $0)?.seconds }
        guard counts.count <= 1, times.count <= 1, counts.count + times.count == parts.count,
            counts.allSatisfy({ (1...1_000_000).contains($0) })
        else { return nil }
        switch (counts.first, times.first) {
        case (let count?, let time?): interval = .frames(count, orSeconds: time)
        case (let count?, nil): interval = .frames(count)
        case (nil, let time?): interval = .seconds(time)
        case (nil, nil): return nil
        }
    }
}
