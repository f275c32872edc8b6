import ArgumentParser
import Bitstream
import Encoder
import Pictures
import Terminal

/// What the stream looks like.
struct StreamOptions: ParsableArguments {
    @Option(help: "H.264 or H.265. Default: what each output's name says, else h264.", transform: Codec.read)
    var codec: Codec?

    @Option(
        help: ArgumentHelp(
            "Distance of keyframes: 50 frames, 2s of capture, or 50,2s: what is over first. Default: 1s.",
            valueName: "N|TIME"), transform: KeyframeDistance.read)
    var keyframeInterval: KeyframeDistance?

    @Option(help: "Profile; H.265 has main. Default: the best that the encoder has.")
    var profile: EncoderConfiguration.Profile?

    @Option(
        help: ArgumentHelp("Level: 4.1. Default: the lowest that fits.", valueName: "LEVEL|auto"),
        transform: Automatic<Level>.read)
    var level: Automatic<Level> = .auto

    @Option(help: "H.264's entropy coding. Default: CABAC where the profile has it.")
    var entropy: EncoderConfiguration.EntropyMode?

    @Option(
        help: ArgumentHelp("B frames in a row at most; they reorder and delay. Default: 0.", valueName: "N"),
        transform: PlainValue.number(0...16))
    var bframes = 0

    @Option(
        help: ArgumentHelp("Frames that the encoder may hold back.", valueName: "N"),
        transform: PlainValue.number(0...250))
    var maxFrameDelay: Int?

    @Option(help: "Every frame at once, or better pictures later.")
    var latency: EncoderConfiguration.Latency = .realtime

    @Option(
        help: ArgumentHelp("limited or full. Default: the camera's.", valueName: "RANGE"),
        transform: ColorEncoding.Range.read)
    var colorRange: ColorEncoding.Range?

    @Option(help: ArgumentHelp("bt601, bt709 or bt2020. Default: the camera's.", valueName: "MATRIX"))
    var colorMatrix: MatrixName?

    @Option(
        help: ArgumentHelp("Slices a picture, 1 to 32. Default: 1.", valueName: "N"),
        transform: PlainValue.number(1...32))
    var slices = 1

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
        if let keyframeInterval { configuration.keyframeInterval = keyframeInterval.interval }
        configuration.bFrames = bframes
        configuration.maximumFrameDelay = maxFrameDelay
        configuration.latency = latency
        configuration.slices = slices
        configuration.colorRange = colorRange
        configuration.colorMatrix = colorMatrix?.matrix
        return configuration
    }
}
