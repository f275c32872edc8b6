import ArgumentParser
import Bitstream
import Encoder
import CamPictures
import CamCommandLine

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
    var profile: EncoderConfiguration.Profile?

    @Option(
        help: ArgumentHelp("Level: 4.1. Default: the lowest that fits.", valueName: "LEVEL|auto"),
        completion: .list(["auto"]), transform: Automatic<Level>.read)
    var level: Automatic<Level> = .auto

    @Option(help: "H.264 entropy coding. Default: CABAC if the profile has it.")
    var entropy: EncoderConfiguration.EntropyMode?

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
    var latency: Automatic<EncoderConfiguration.Latency> = .auto

    @Option(
        help: ArgumentHelp("Colour range: limited or full. Default: the camera's.", valueName: "RANGE"),
        completion: .list(ColorEncoding.Range.allCases.map(\.rawValue)), transform: ColorEncoding.Range.read)
    var colorRange: ColorEncoding.Range?

    @Option(
        help: ArgumentHelp(
            "Colour matrix: bt601, bt709 or bt2020. Default: the camera's.", valueName: "MATRIX"))
    var colorMatrix: MatrixName?

    @Option(
        help: ArgumentHelp("Slices per picture, 1 to 32. Default: 1.", valueName: "N"),
        transform: PlainValue.number(1...32))
    var slices = 1

    /// Returns each codec's configuration. With several codecs, options of only one are left out of the others.
    /// - Parameter areAwaited: whether somebody may be waiting for the frames.
    func configurations(
        _ codecs: [Codec], rate: RateOptions, areAwaited: Bool
    ) -> [EncoderConfiguration] {
        codecs.map { codec in
            var configuration = configuration(codec, rate: rate, isAwaited: areAwaited)
            guard codecs.count > 1 else { return configuration }
            if profile?.isDefined(in: codec) == false { configuration.profile = nil }
            if codec == .hevc { configuration.entropyMode = nil }
            return configuration
        }
    }

    private func configuration(_ codec: Codec, rate: RateOptions, isAwaited: Bool) -> EncoderConfiguration {
        var configuration = EncoderConfiguration()
        configuration.codec = codec
        configuration.profile = profile
        configuration.level = level.value
        configuration.entropyMode = entropy
        configuration.rateControl = rate.request
        if let keyframeInterval { configuration.keyframeInterval = keyframeInterval.interval }
        configuration.bFrames = bframes ?? (isAwaited ? 0 : nil)
        configuration.maximumFrameDelay = maxFrameDelay
        configuration.latency = latency.value ?? (isAwaited ? .realtime : .throughput)
        configuration.slices = slices
        configuration.colorRange = colorRange
        configuration.colorMatrix = colorMatrix?.matrix
        return configuration
    }
}
