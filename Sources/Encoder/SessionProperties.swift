import Bitstream
import CamPictures
import CamConversion

/// A configuration resolved for one encoder and one source, with every property decided.
struct SessionProperties: Sendable {
    let codec: Codec
    let size: PictureSize
    let frameRate: FrameRate
    /// The frame rate of a time lapse, at which frames are played; nil for a stream that plays as captured.
    let playbackRate: FrameRate?
    let color: ColorEncoding
    let chromaSiting: ChromaSiting
    let pixelAspect: PixelAspect?
    let profile: CompressionProperties.Profile
    let level: Level?
    let entropyMode: CompressionProperties.EntropyMode
    var rateControl: RateControl
    /// The bucket and the promise of the rate control.
    var rateModel: RateModel
    let keyframeInterval: KeyframeInterval
    let bFrames: Int
    let maximumFrameDelay: Int?
    let latency: CompressionProperties.Latency
    let slices: Int
    let statesCaptureTime: Bool
    let notes: [EncoderNote]
    private let limits: Limits

    /// The capabilities of an encoder.
    struct Limits {
        var encoder: String
        var profiles: [CompressionProperties.Profile]
        var rateControlModes: Set<RateControl.Mode>
        var maximumSize: PictureSize?
        var minimumSize: PictureSize?
        var maximumSlices: Int
        var hasBPictures: Bool
        /// Whether the driver chooses the rows of each slice, so the number of slices may differ from the
        /// request.
        var roundsSlices = false
        /// The number of B frames if the request leaves it open and pictures may be held back.
        var preferredBFrames = 0
        /// The minimum number of frames held back for a number of B frames and slices.
        var leastFrameDelay: @Sendable (_ bFrames: Int, _ slices: Int) -> Int = { bFrames, _ in bFrames }
        /// The measured properties of the rate control.
        var rateTraits: RateTraits
    }

    init(
        _ configuration: CompressionProperties, source: PictureFormat, framing: Framing = Framing(),
        limits: Limits
    ) throws(EncoderError) {
        try configuration.refuseContradictions()
        let picture = try EncoderError.mapping { () throws(PictureRequestError) in
            try framing.picture(of: source)
        }
        var notes: [EncoderNote] = []
        codec = configuration.codec
        playbackRate = configuration.playbackRate
        frameRate = playbackRate ?? configuration.frameRate(of: source)
        chromaSiting = framing.orientation.siting(of: source.chromaSiting)
        pixelAspect = picture.pixelAspect
        color = Self.color(configuration, source: source)
        size = try Self.size(of: picture.size, limits: limits, notes: &notes)
        profile = try Self.profile(configuration, limits: limits)
        level = try Self.level(configuration, size: size, rate: frameRate)
        entropyMode = try Self.entropyMode(configuration, profile: profile)
        bFrames = try Self.bFrames(
            configuration, frameRate, profile: profile, limits: limits, notes: &notes)
        (rateControl, rateModel) = try Self.rates(
            configuration.rateControl, codec: codec, size: size, frameRate: frameRate, profile: profile,
            keyframeInterval: configuration.keyframeInterval, level: level,
            statesCaptureTime: configuration.statesCaptureTime, limits: limits, notes: &notes)
        keyframeInterval = configuration.keyframeInterval
        self.limits = limits
        maximumFrameDelay = configuration.maximumFrameDelay
        latency = configuration.latency
        statesCaptureTime = configuration.statesCaptureTime
        slices = Self.slices(configuration, size: size, bFrames: bFrames, limits: limits, notes: &notes)
        if slices > 1, limits.roundsSlices {
            notes.append(
                EncoderNote(
                    "\(limits.encoder) may not make exactly \(slices) slices",
                    contradictsRequest: false))
        }
        self.notes = notes
    }

    /// The maximum lookahead in frames if speed matters: one second, or the maximum frame delay if that is
    /// less.
    var frameBudget: Int { Self.frameBudget(maximumFrameDelay, frameRate) }

    private static func frameBudget(_ maximumFrameDelay: Int?, _ frameRate: FrameRate) -> Int {
        min(maximumFrameDelay ?? .max, max(1, Int(min(frameRate.framesPerSecond, 1000))))
    }

    /// The longest group of pictures, in frames. Only camrec places keyframes. For an interval in time, the
    /// encoder's own keyframe must not come first when a camera delivers slightly more than its nominal rate.
    var framesInGroup: Int {
        let frames = keyframeInterval.frames(framesPerSecond: frameRate.framesPerSecond)
        return keyframeInterval.duration == nil ? frames : frames + frames / 4 + 2
    }

    /// Resolves other requested rates for the same session.
    func changingRates(to request: RateControlRequest) throws(EncoderError) -> (RateControl, RateModel) {
        var notes: [EncoderNote] = []
        return try Self.rates(
            request, codec: codec, size: size, frameRate: frameRate, profile: profile,
            keyframeInterval: keyframeInterval, level: level, statesCaptureTime: statesCaptureTime,
            limits: limits, notes: &notes)
    }

    private static func rates(
        _ request: RateControlRequest, codec: Codec, size: PictureSize, frameRate: FrameRate,
        profile: CompressionProperties.Profile, keyframeInterval: KeyframeInterval, level: Level?,
        statesCaptureTime: Bool, limits: Limits, notes: inout [EncoderNote]
    ) throws(EncoderError) -> (RateControl, RateModel) {
        let (control, note) = try request.resolve(
            supported: limits.rateControlModes,
            pixelsPerSecond: Double(size.area) * frameRate.framesPerSecond, encoder: limits.encoder,
            bitsPerPixel: codec.bitsPerPixel,
            highestRate: level?.maximumBitRate(for: profile, codec: codec) ?? .max)
        if let note {
            notes.append(EncoderNote(note, contradictsRequest: request != RateControlRequest()))
        }
        if let level, let maximum = control.maximumBitRate {
            try level.refuse(bitRate: maximum, profile: profile, codec: codec)
        }
        let model = RateModel(
            control, request: request, area: size.area, framesPerSecond: frameRate.framesPerSecond,
            framesInGroup: keyframeInterval.frames(framesPerSecond: frameRate.framesPerSecond),
            traits: limits.rateTraits
        ).leavingRoom(
            forMessages: statesCaptureTime
                ? Double(CaptureTimeMessage.byteCount(codec) * 8) * frameRate.framesPerSecond : 0)
        if let shortfall = model.shortfall {
            // CBR allows an excess of either ten percent or one keyframe.
            notes.append(EncoderNote(shortfall, contradictsRequest: control.mode != .cbr))
        }
        return (control, model)
    }

    private static func color(_ configuration: CompressionProperties, source: PictureFormat) -> ColorEncoding
    {
        var color = source.color
        if let range = configuration.colorRange { color.range = range }
        if let matrix = configuration.colorMatrix { color.matrix = matrix }
        return color
    }

    /// 4:2:0 has no odd sizes, and the SPS crops in steps of two (7.4.2.1.1), so an odd size is rounded up:
    /// the last column or row is doubled.
    private static func size(
        of size: PictureSize, limits: Limits, notes: inout [EncoderNote]
    ) throws(EncoderError) -> PictureSize {
        guard let even = PictureSize((size.width + 1) & ~1, (size.height + 1) & ~1) else {
            throw EncoderError(.unsupported("pictures of \(size) are too large"))
        }
        if even != size {
            notes.append(
                EncoderNote(
                    "\(size) is odd; the stream is \(even), with its edge repeated", contradictsRequest: false
                ))
        }
        if let maximum = limits.maximumSize, even.width > maximum.width || even.height > maximum.height {
            throw EncoderError(.unsupported("\(limits.encoder) encodes up to \(maximum), not \(even)"))
        }
        if let minimum = limits.minimumSize, even.width < minimum.width || even.height < minimum.height {
            throw EncoderError(.unsupported("\(limits.encoder) encodes \(minimum) and larger, not \(even)"))
        }
        return even
    }

    private static func profile(
        _ configuration: CompressionProperties, limits: Limits
    ) throws(EncoderError) -> CompressionProperties.Profile {
        if let wanted = configuration.profile {
            guard limits.profiles.contains(wanted) else {
                let offered = limits.profiles.map(\.rawValue).joined(separator: ", ")
                throw EncoderError(
                    .unsupported("\(limits.encoder) has no profile \(wanted), only \(offered)"))
            }
            return wanted
        }
        let codec = configuration.codec
        guard
            let best = limits.profiles.max(by: { $0.number(in: codec) & 0xff < $1.number(in: codec) & 0xff })
        else {
            throw EncoderError(.unsupported("\(limits.encoder) does not encode \(codec)"))
        }
        return best
    }

    private static func level(
        _ configuration: CompressionProperties, size: PictureSize, rate: FrameRate
    ) throws(EncoderError) -> Level? {
        try configuration.refuseBeyondLevel(size, at: rate)
        return configuration.level
    }

    private static func entropyMode(
        _ configuration: CompressionProperties, profile: CompressionProperties.Profile
    ) throws(EncoderError) -> CompressionProperties.EntropyMode {
        let best = profile == .constrainedBaseline ? CompressionProperties.EntropyMode.cavlc : .cabac
        guard let wanted = configuration.entropyMode else { return best }
        guard wanted == .cavlc || best == .cabac else {
            throw CompressionProperties.needsMain("CABAC needs")
        }
        return wanted
    }

    /// The number of B frames that leaves room for other held-back frames.
    private static func suitableBFrames(
        _ configuration: CompressionProperties, _ frameRate: FrameRate,
        profile: CompressionProperties.Profile,
        limits: Limits
    ) -> Int {
        guard configuration.latency != .realtime, profile != .constrainedBaseline else { return 0 }
        let budget =
            configuration.latency == .throughput
            ? frameBudget(configuration.maximumFrameDelay, frameRate)
            : configuration.maximumFrameDelay ?? .max
        return (0...limits.preferredBFrames).last { limits.leastFrameDelay($0, 1) <= budget / 2 } ?? 0
    }

    private static func bFrames(
        _ configuration: CompressionProperties, _ frameRate: FrameRate,
        profile: CompressionProperties.Profile,
        limits: Limits, notes: inout [EncoderNote]
    ) throws(EncoderError) -> Int {
        guard let wanted = configuration.bFrames else {
            return suitableBFrames(configuration, frameRate, profile: profile, limits: limits)
        }
        guard wanted > 0 else { return 0 }
        guard profile != .constrainedBaseline else {
            throw CompressionProperties.needsMain("B frames need")
        }
        guard limits.hasBPictures else {
            notes.append(
                EncoderNote("\(limits.encoder) makes no B frames; using none", contradictsRequest: true))
            return 0
        }
        guard let delay = configuration.maximumFrameDelay else { return wanted }
        let possible = (0...wanted).last { limits.leastFrameDelay($0, 1) <= delay } ?? 0
        if possible < wanted {
            notes.append(
                EncoderNote(
                    "\(limits.encoder) holds back \(limits.leastFrameDelay(wanted, 1)) frames for \(wanted) B frames; "
                        + "using \(possible == 0 ? "none" : "\(possible)") for --max-frame-delay \(delay)",
                    contradictsRequest: true))
        }
        return possible
    }

    private static func slices(
        _ configuration: CompressionProperties, size: PictureSize, bFrames: Int, limits: Limits,
        notes: inout [EncoderNote]
    ) -> Int {
        let wanted = configuration.slices
        let slices = min(wanted, limits.maximumSlices, configuration.codec.blockRows(size))
        if slices < wanted {
            notes.append(
                EncoderNote(
                    "\(limits.encoder) makes at most \(slices) slices for pictures of this size",
                    contradictsRequest: true))
        }
        let (delay, alone) = (limits.leastFrameDelay(bFrames, slices), limits.leastFrameDelay(bFrames, 1))
        guard delay > alone else { return slices }
        if let maximum = configuration.maximumFrameDelay, maximum < delay {
            notes.append(
                EncoderNote(
                    "\(limits.encoder) holds back a frame for several slices; "
                        + "using one for --max-frame-delay \(maximum)", contradictsRequest: true))
            return 1
        }
        if configuration.latency == .realtime {
            notes.append(
                EncoderNote(
                    "\(limits.encoder) holds back a frame for several slices", contradictsRequest: false))
        }
        return slices
    }
}

extension Codec {
    /// The bits per pixel if no rate is requested: H.265 needs 40 % less for the same picture.
    fileprivate var bitsPerPixel: Double {
        switch self {
        case .h264: 0.1
        case .hevc: 0.06
        }
    }

    /// The number of rows of blocks in a picture, which bounds the number of slices. Macroblocks have 16
    /// lines, coding tree blocks up to 64.
    fileprivate func blockRows(_ size: PictureSize) -> Int {
        switch self {
        case .h264: (size.height + 15) / 16
        case .hevc: (size.height + 63) / 64
        }
    }
}
