import CamConversion
import Bitstream
import CFFmpeg
import CamPictures
import CamPlatform

/// The back end of libx264 and libx265.
struct SoftwareBackend: EncoderBackend {
    /// A software encoder may take as long as it needs.
    var waitsForDriver: Bool { false }

    func open(_ attempt: inout EncoderAttempt) throws(EncoderError) -> VideoEncoder? {
        if attempt.leavesOut(Self.name(attempt.configuration.codec)) { return nil }
        do throws(EncoderError) {
            return try Self.open(
                attempt.configuration, source: attempt.source, inputs: attempt.inputs,
                regulator: attempt.regulator)
        } catch {
            if case .contradiction = error.kind { throw error }
            attempt.fail(error)
            return nil
        }
    }

    /// The name of the codec's encoder in libavcodec.
    static func name(_ codec: Codec) -> String {
        switch codec {
        case .h264: X264.name
        case .hevc: X265.name
        }
    }

    static func open(
        _ configuration: CompressionProperties, source: PictureFormat, inputs: EncoderInputs,
        regulator: RateRegulator
    ) throws(EncoderError) -> VideoEncoder {
        let codec = configuration.codec
        let name = name(codec)
        let framing = inputs.treatment(for: configuration).framing
        let size = try EncoderError.mapping { () throws(PictureRequestError) in
            try framing.size(of: source.size)
        }
        let properties = try SessionProperties(
            configuration, source: source, framing: framing,
            limits: SessionProperties.Limits(
                encoder: name,
                profiles: CompressionProperties.Profile.allCases.filter { $0.isDefined(in: codec) },
                rateControlModes: Set(RateControl.Mode.allCases), maximumSize: nil,
                // libx265 rejects pictures smaller than its smallest coding tree block.
                minimumSize: codec == .hevc ? PictureSize(16, 16) : nil,
                maximumSlices: codec == .h264 ? 32 : X265.maximumSlices(size),
                hasBPictures: true,
                // libx265 needs a lookahead for B frames.
                preferredBFrames: codec == .h264 ? 3 : 0,
                leastFrameDelay: codec == .h264 ? X264.leastFrameDelay : X265.leastFrameDelay,
                rateTraits: codec == .h264 ? .x264 : .x265))
        if codec == .hevc { try X265.refuseCrash(at: properties.level, size: properties.size) }
        let input = try inputs.memory(
            for: source, configuration, size: properties.size, color: properties.color)
        let options = codec == .h264 ? X264.options(properties) : X265.options(properties)
        let rates = SessionRates(properties, regulator, followsTime: codec == .h264)
        let session = try LibavEncoder(name: name, options: options) { context in
            context.configure(properties, rates)
            // libx265 interprets a group of one picture as a request for Main Intra; each picture is forced
            // to be an IDR anyway.
            if codec == .hevc { context.pointee.gop_size = max(2, context.pointee.gop_size) }
            context.pointee.pix_fmt = input.pixelFormat
            context.pointee.thread_count =
                codec == .h264 ? X264.threadCount(properties) : X265.threadCount(properties)
        }
        return try VideoEncoder(
            session: session, input: input, properties: properties,
            details: EncoderDetails(
                implementation: name,
                isSingleThreaded: codec == .h264 && X264.isSingleThreaded(properties), properties),
            waitsForDriver: false, regulator: regulator, rates: rates,
            notes: input.notes + [note(on: properties, encoder: name)].compactMap { $0 })
    }

    private static func note(on properties: SessionProperties, encoder: String) -> EncoderNote? {
        guard properties.latency == .throughput else { return nil }
        let frames =
            properties.codec == .h264 ? X264.mostHeldBack(properties) : X265.mostHeldBack(properties)
        guard frames > 0 else { return nil }
        return EncoderNote(
            "\(encoder) holds back up to \(frames) \(frames == 1 ? "frame" : "frames") to be faster; "
                + "--latency realtime holds back none", contradictsRequest: false)
    }
}

extension RateControl {
    /// The options of libx264 and libx265 for a fixed quality.
    var softwareOptions: [(String, String)] {
        switch self {
        // For both libraries, 0 means lossless, which camrec's profiles do not allow.
        case .constantQuantizer(let quantizer): [("qp", "\(max(1, quantizer))")]
        case .constantQuality(let quality), .qualityVariableBitRate(let quality, _, _, _):
            [("crf", "\(quality)")]
        case .constantBitRate, .variableBitRate: []
        }
    }
}

// MARK: - Available encoders

/// A software encoder that this machine's libavcodec was built with.
public struct SoftwareEncoder: Sendable {
    /// The encoder's name in libavcodec.
    public let name: String
    /// The coding standard.
    public let codec: Codec
    /// The supported profiles, best first.
    public let profiles: [CompressionProperties.Profile]

    /// Returns all available software encoders.
    public static func all() -> [SoftwareEncoder] {
        Codec.allCases.compactMap { codec in
            let name = SoftwareBackend.name(codec)
            guard avcodec_find_encoder_by_name(name) != nil else { return nil }
            return SoftwareEncoder(
                name: name, codec: codec,
                profiles: CompressionProperties.Profile.allCases.reversed().filter { $0.isDefined(in: codec) }
            )
        }
    }
}

// MARK: - libx264

/// The options for libx264.
enum X264 {
    static let name = "libx264"

    static func options(_ properties: SessionProperties) -> [(String, String)] {
        var options = [
            ("preset", properties.latency == .quality ? "medium" : "veryfast"),
            (
                "profile",
                properties.profile == .constrainedBaseline ? "baseline" : properties.profile.rawValue
            ),
            ("forced-idr", "1"),
            ("coder", properties.entropyMode.rawValue),
            ("x264-params", parameters(properties)),
        ]
        if properties.latency == .realtime { options.append(("tune", "zerolatency")) }
        if let level = properties.level { options.append(("level", "\(level)")) }
        return options + properties.rateControl.softwareOptions
    }

    /// Only camrec places keyframes (no scene cuts, no open GOPs). zerolatency would make a slice for each
    /// thread.
    private static func parameters(_ properties: SessionProperties) -> String {
        // Declares a constant frame rate; otherwise x264 would hold a frame back to measure its duration.
        var parameters = [
            "scenecut=0", "open-gop=0", "force-cfr=1", "sliced-threads=\(sharesSlices(properties) ? 1 : 0)",
        ]
        if let (lookahead, hasThread) = lookahead(properties) {
            parameters += ["rc-lookahead=\(lookahead)", lookahead == 0 ? "mbtree=0" : "mbtree=1"]
            if !hasThread { parameters.append("sync-lookahead=0") }
        }
        return parameters.joined(separator: ":")
    }

    /// The frames of lookahead, and whether a separate thread looks ahead, which holds back one frame more
    /// than the B frames; nil leaves both to the preset.
    private static func lookahead(_ properties: SessionProperties) -> (frames: Int, hasThread: Bool)? {
        let others = heldByThreads(properties)
        switch properties.latency {
        case .realtime: return nil
        case .quality:
            guard let delay = properties.maximumFrameDelay else { return nil }
            return (max(0, delay - properties.bFrames - others), false)
        case .throughput:
            let wanted = min(presetLookahead, properties.frameBudget)
            let room = max(0, (properties.maximumFrameDelay ?? .max) - others)
            let hasThread = others > 0 && room > max(wanted, properties.bFrames) + properties.bFrames
            return (min(wanted, room), hasThread)
        }
    }

    /// Each thread except the first holds a frame back, unless they share a picture's slices.
    private static func heldByThreads(_ properties: SessionProperties) -> Int {
        sharesSlices(properties) ? 0 : Int(threadCount(properties)) - 1
    }

    /// The maximum number of frames held back if speed matters (`x264_validate_parameters`, `i_delay` in
    /// x264's encoder.c).
    static func mostHeldBack(_ properties: SessionProperties) -> Int {
        let (lookahead, hasThread) = lookahead(properties) ?? (0, false)
        return max(properties.bFrames, lookahead) + (hasThread ? properties.bFrames + 1 : 0)
            + heldByThreads(properties)
    }

    /// The lookahead of the preset veryfast.
    private static let presetLookahead = 10

    /// Whether each slice has its own thread. x264 requires four rows of macroblocks for that, or makes fewer
    /// slices.
    private static func sharesSlices(_ properties: SessionProperties) -> Bool {
        properties.slices > 1 && 4 * properties.slices <= (properties.size.height + 15) / 16
    }

    /// Whether the encoder uses one processor but could use several with slices or more delay.
    static func isSingleThreaded(_ properties: SessionProperties) -> Bool {
        properties.latency == .realtime && properties.slices == 1
    }

    /// The minimum number of frames held back.
    static func leastFrameDelay(bFrames: Int, slices: Int) -> Int { bFrames }

    /// The number of threads; 0 leaves the choice to x264.
    static func threadCount(_ properties: SessionProperties) -> Int32 {
        if properties.slices > 1 { return sharesSlices(properties) ? Int32(properties.slices) : 1 }
        switch properties.latency {
        case .realtime: return 1
        case .quality:
            guard let delay = properties.maximumFrameDelay else { return 0 }
            return Int32(max(1, min(16, delay - properties.bFrames + 1)))
        // By default, libx264 uses 1.5 threads per processor.
        case .throughput:
            let most = (properties.maximumFrameDelay ?? .max - 1) - properties.bFrames + 1
            return Int32(max(1, min(Processors.count * 3 / 2, 16, 1 + properties.frameBudget / 3, most)))
        }
    }
}

// MARK: - libx265

/// The options for libx265.
enum X265 {
    static let name = "libx265"
    /// The minimum height in lines for rows in parallel. With eight or more rows of coding tree units of 32
    /// lines, libx265 respects its buffer.
    private static let smallestSharedHeight = 240

    static func options(_ properties: SessionProperties) -> [(String, String)] {
        var options = [
            ("preset", properties.latency == .quality ? "medium" : "superfast"),
            ("profile", properties.profile.rawValue),
            ("forced-idr", "1"), ("x265-params", parameters(properties)),
        ]
        if properties.latency != .quality { options.append(("tune", "zerolatency")) }
        return options + properties.rateControl.softwareOptions
    }

    /// Only camrec places keyframes, and groups are closed; forced-idr alone would leave open groups with CRA
    /// pictures.
    private static func parameters(_ properties: SessionProperties) -> String {
        var parameters = [
            "scenecut=0", "open-gop=0", "slices=\(properties.slices)",
            // Leaves out the settings as text, 2.4 kB before each keyframe.
            "info=0",
            // libx265 would print to standard error; libavcodec reports failures.
            "log-level=none",
            // Keeps the tier independent of the session's rates.
            "high-tier=0",
        ]
        // Rows coded in parallel do not know each other's bits. With few rows this matters: a window exceeded
        // its limit by a third. Such small pictures need no second thread, unless they have several slices.
        if properties.slices == 1, properties.size.height < smallestSharedHeight { parameters += ["wpp=0"] }
        // 3.5 writes beyond its memory below 49 columns or rows (valgrind: in Lookahead::cuTree).
        if min(properties.size.width, properties.size.height) < 64 { parameters.append("cutree=0") }
        if let level = properties.level {
            parameters.append("level-idc=\(level.tenfold)")
        }
        if let lookahead = lookahead(properties) { parameters.append("rc-lookahead=\(lookahead)") }
        return parameters.joined(separator: ":")
    }

    /// The maximum number of slices that libx265 survives. With fewer than three columns of blocks, libx265
    /// codes no rows in parallel and reads out of bounds if a picture has several slices (3.5 crashes). Since
    /// 4.2, several slices corrupt its memory at any width (`ffmpeg -x265-params slices=4` crashes, too).
    static func maximumSlices(_ size: PictureSize, version: String? = loadedVersion) -> Int {
        let release = (version ?? "").prefix { $0.isNumber || $0 == "." }.split(separator: ".").map {
            Int($0) ?? 0
        }
        return size.width > 2 * 64 && release.lexicographicallyPrecedes([4, 2]) ? 32 : 1
    }

    /// Refuses pictures that crash libx265. From level 5 on, coding tree blocks have at least 32 lines
    /// (H.265, A.4.1); 3.5 assumes that for smaller pictures, too, although their blocks are smaller. It crashes below
    /// 32 lines or columns at every preset, and not above (`encoder-sweep.sh`).
    static func refuseCrash(at level: Level?, size: PictureSize) throws(EncoderError) {
        let least = PictureSize(32, 32)
        guard let level, level.needsLargeBlocks, let least, min(size.width, size.height) < least.height else {
            return
        }
        throw EncoderError(
            .unsupported(
                "\(name) encodes \(least) and larger at level \(level), not \(size); use a --level below 5"))
    }

    /// The loaded library's version, such as "3.5+1-f0c1022b6"; nil if libavcodec has no libx265.
    static var loadedVersion: String? { cffmpeg_x265_version().map { String(cString: $0) } }

    // MARK: Frames held back

    // Measured with 3.5 and 4.1, for every number of B frames, lookahead and threads. Without lookahead, one
    // thread holds no frame, or one frame if a picture has several slices; two or more threads hold one frame
    // each. With lookahead, libx265 holds one frame for each frame of lookahead, each B frame and each
    // thread, and two more. Lookahead must exceed the B frames.

    /// The frames held in addition to lookahead, B frames and threads: the two above, and one that a race
    /// between libx265's threads may leave behind permanently.
    private static let lookaheadOverhead = 3

    /// The minimum number of frames held back.
    static func leastFrameDelay(bFrames: Int, slices: Int) -> Int {
        if bFrames > 0 { return 2 * bFrames + 2 + lookaheadOverhead }
        return slices > 1 ? 1 : 0
    }

    /// The frames of lookahead; nil leaves the number to the preset.
    private static func lookahead(_ properties: SessionProperties) -> Int? {
        let least = properties.bFrames == 0 ? 0 : properties.bFrames + 1
        // zerolatency has no lookahead. With lookahead, libx265 saves bits for a coming keyframe: if a
        // keyframe fills half of the buffer, the pictures before it got 150 bytes each, and 26 dB.
        guard properties.latency == .quality else { return least == 0 ? nil : least }
        guard let delay = properties.maximumFrameDelay else {
            return properties.bFrames < presetLookahead ? nil : least
        }
        let room = delay - properties.bFrames - lookaheadOverhead - Int(threadCount(properties))
        return max(least, min(presetLookahead, room))
    }

    /// The lookahead of the preset medium.
    private static let presetLookahead = 20

    /// The maximum number of frames held back if speed matters.
    static func mostHeldBack(_ properties: SessionProperties) -> Int {
        let threads = Int(threadCount(properties))
        return leastFrameDelay(bFrames: properties.bFrames, slices: properties.slices)
            + (threads > 1 ? threads : 0)
    }

    /// The number of pictures coded at once; rows within a picture share libx265's own threads. 0 leaves the
    /// number to libx265.
    static func threadCount(_ properties: SessionProperties) -> Int32 {
        switch properties.latency {
        case .realtime: return 1
        case .throughput: return throughputThreadCount(properties)
        case .quality: break
        }
        guard let delay = properties.maximumFrameDelay else { return 0 }
        // The delay is too small for lookahead, so threads get all of it.
        if properties.bFrames == 0, delay <= lookaheadOverhead + 1 { return Int32(max(1, delay)) }
        let room = delay - leastFrameDelay(bFrames: properties.bFrames, slices: properties.slices)
        return Int32(max(1, min(mostThreads, room / 4)))
    }

    private static func throughputThreadCount(_ properties: SessionProperties) -> Int32 {
        let others = leastFrameDelay(bFrames: properties.bFrames, slices: properties.slices)
        return Int32(max(1, min(mostThreads, max(2, Processors.count / 2), properties.frameBudget - others)))
    }

    /// libx265's default on 16 processors.
    private static let mostThreads = 5
}
