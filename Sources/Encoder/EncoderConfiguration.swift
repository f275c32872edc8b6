import Bitstream
import CamPictures

/// What a compression session produces. Each property is checked against what the chosen encoder claims to
/// support.
public struct EncoderConfiguration: Sendable, Hashable {
    /// The coding standard.
    public var codec = Codec.h264
    /// Nil: the best that the encoder has; of H.264 High, else Main, else Constrained Baseline.
    public var profile: Profile?
    /// Nil: the lowest that holds the size and rate.
    public var level: Level?
    /// Nil: CABAC if the profile allows it.
    public var entropyMode: EntropyMode?
    /// How many bits a picture gets.
    public var rateControl = RateControlRequest()
    /// From one regular keyframe to the next.
    public var keyframeInterval = KeyframeInterval.seconds(1)
    /// The largest number of B pictures in a row, 0 … 16; without any, output order is input order. Nil: what suits
    /// `latency`; an encoder on a GPU makes none then.
    public var bFrames: Int? = 0
    /// Frames that the encoder may hold back before the first comes out; nil: what `latency` needs.
    public var maximumFrameDelay: Int?
    /// Frames a second when the stream is played, for a time lapse; nil: as captured.
    public var playbackRate: FrameRate?
    /// Whether pictures may be held back.
    public var latency = Latency.realtime
    /// Slices per picture, 1 … 32.
    public var slices = 1
    /// The stream's range; nil: the source's.
    public var colorRange: ColorEncoding.Range?
    /// The stream's matrix; nil: the source's.
    public var colorMatrix: ColorEncoding.Matrix?

    /// A live recording with everything else left open.
    public init() {}

    /// The profiles for 8-bit 4:2:0: H.264's (A.2), and H.265's Main (A.3.2).
    public enum Profile: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        case constrainedBaseline = "constrained-baseline"
        case main, high

        /// Whether the codec has a profile of this name.
        public func isDefined(in codec: Codec) -> Bool { codec == .h264 || self == .main }

        /// `profile_idc`, and libavcodec's flag for constraint_set1; `general_profile_idc` of H.265.
        func number(in codec: Codec) -> Int32 {
            switch self {
            case .constrainedBaseline: 66 | 1 << 9
            case .main: codec == .h264 ? 77 : 1
            case .high: 100
            }
        }

        public var description: String { rawValue }
    }

    /// How symbols are coded: CABAC packs better, CAVLC is simpler to decode (9.2, 9.3).
    public enum EntropyMode: String, Sendable, Hashable, CaseIterable { case cabac, cavlc }

    /// Whether delay, speed or quality matters more.
    public enum Latency: String, Sendable, Hashable, CaseIterable {
        /// Every picture comes out before the next goes in.
        case realtime
        /// A software encoder uses all processors and may look ahead: it holds back up to two seconds, or a frame.
        case throughput
        /// The encoder may look ahead, use several threads and hold pictures back.
        case quality
    }
}

extension EncoderConfiguration {
    /// Refuses properties that no encoder can combine, whatever the source. Opens nothing.
    public func refuseContradictions() throws(EncoderError) {
        if let profile, !profile.isDefined(in: codec) {
            throw EncoderError(
                .contradiction("\(codec) has no profile \(profile); use main or leave it out"))
        }
        if let level, !level.isDefined(in: codec) {
            throw EncoderError(
                .contradiction("\(codec) has no level \(level); use another, or --level auto"))
        }
        try refuseEntropyMode()
        try refuseBFrames()
        try refuseRates()
    }

    /// Refuses pictures that the level, or any level, does not allow, as far as they are known.
    /// - Parameters:
    ///   - size: of the pictures.
    ///   - rate: nil if the source decides; the slowest rate is then assumed.
    public func refuseBeyondLevel(_ size: PictureSize, at rate: FrameRate?) throws(EncoderError) {
        guard let slowest = rate ?? FrameRate(1, 86400) else { return }
        let pictures = rate.map { "\(size) at \($0) frames a second" } ?? "\(size)"
        guard let lowest = Level.lowest(for: size, at: slowest, codec: codec) else {
            throw EncoderError(.contradiction("\(codec) has no level for \(pictures); lower --size or --fps"))
        }
        guard let level, !level.holds(size, at: slowest, codec: codec) else { return }
        throw EncoderError(
            .contradiction("level \(level) is too low for \(pictures); use \(lowest) or --level auto"))
    }

    private func refuseEntropyMode() throws(EncoderError) {
        if codec == .hevc, entropyMode == .cavlc {
            throw EncoderError(.contradiction("H.265 has no CAVLC (H.265 9.3); leave out --entropy"))
        }
        if profile == .constrainedBaseline, entropyMode == .cabac { throw Self.needsMain("CABAC needs") }
    }

    private func refuseBFrames() throws(EncoderError) {
        guard let bFrames, bFrames > 0 else { return }
        if profile == .constrainedBaseline { throw Self.needsMain("B frames need") }
        if let delay = maximumFrameDelay, delay < bFrames {
            throw EncoderError(
                .contradiction(
                    "\(bFrames) B frames delay the stream by \(bFrames) frames; raise --max-frame-delay from \(delay)"
                ))
        }
    }

    /// Also used if an encoder's own profile lacks the feature, so that both cases read the same.
    static func needsMain(_ feature: String) -> EncoderError {
        EncoderError(
            .contradiction(
                "\(feature) profile main or high (H.264 A.2.1); use another --profile"))
    }

    private func refuseRates() throws(EncoderError) {
        guard let level,
            let highest = [rateControl.bitRate, rateControl.maximumBitRate].compactMap({ $0 }).max()
        else { return }
        let profile = profile ?? (codec == .h264 ? .high : .main)
        try level.refuse(bitRate: highest, profile: profile, codec: codec)
    }
}

extension Level {
    /// Refuses a bit rate that the level does not allow.
    func refuse(
        bitRate: Int, profile: EncoderConfiguration.Profile, codec: Codec
    ) throws(EncoderError) {
        let highest = maximumBitRate(for: profile, codec: codec)
        guard bitRate > highest else { return }
        throw EncoderError(
            .contradiction(
                "level \(self) allows \(BitRate(highest)), not \(BitRate(bitRate)); "
                    + "lower --bitrate or --max-bitrate, or use --level auto"))
    }
}
