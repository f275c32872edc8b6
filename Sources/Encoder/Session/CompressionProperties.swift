import Bitstream
import CamPictures

/// The requested properties of an encoder's stream. Each property is checked against the capabilities of the
/// chosen encoder.
public struct CompressionProperties: Sendable, Hashable {
    /// The coding standard.
    public var codec: Codec
    /// The size of the coded pictures, with even sides; nil: that of the treated source. Their content keeps its
    /// proportions when they are shown.
    public var size: PictureSize?
    /// The number of pictures a second that are coded, if the source has more; the others are left out. Nil: all.
    public var frameRate: FrameRate?
    /// Nil: the best profile of the encoder; for H.264 High, else Main, else Constrained Baseline.
    public var profile: Profile?
    /// Nil: the lowest level for the size and rate.
    public var level: Level?
    /// Nil: CABAC if the profile allows it.
    public var entropyMode: EntropyMode?
    /// How many bits a picture gets.
    public var rateControl = RateControlRequest()
    /// The interval from one regular keyframe to the next.
    public var keyframeInterval = KeyframeInterval.seconds(1)
    /// The largest number of B pictures in a row, 0 … 16; with 0, output order is input order. Nil: a number
    /// that suits `latency`, which is 0 on a GPU.
    public var bFrames: Int? = 0
    /// The maximum number of frames that the encoder holds back; nil: as many as `latency` needs.
    public var maximumFrameDelay: Int?
    /// The frame rate at which a time lapse is played; nil: as captured.
    public var playbackRate: FrameRate?
    /// Whether pictures may be held back.
    public var latency = Latency.realtime
    /// Slices per picture, 1 … 32.
    public var slices = 1
    /// The stream's range; nil: the source's.
    public var colorRange: ColorEncoding.Range?
    /// The stream's matrix; nil: the source's.
    public var colorMatrix: ColorEncoding.Matrix?

    /// Whether each picture gets an SEI message with its capture time (MISB ST 0604): 36 bytes with its start
    /// code, or 37 in H.265, which count against the rates.
    public var statesCaptureTime = false

    /// The nominal rate of the coded pictures of a source.
    func frameRate(of source: PictureFormat) -> FrameRate {
        guard let frameRate, frameRate.frameDuration > source.frameRate.frameDuration else {
            return source.frameRate
        }
        return frameRate
    }

    /// A live recording with all other properties open.
    public init(codec: Codec = .h264) { self.codec = codec }

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

    /// The entropy coding: CABAC compresses better, CAVLC is simpler to decode (9.2, 9.3).
    public enum EntropyMode: String, Sendable, Hashable, CaseIterable { case cabac, cavlc }

    /// Whether delay, speed or quality matters more.
    public enum Latency: String, Sendable, Hashable, CaseIterable {
        /// Every picture comes out before the next goes in.
        case realtime
        /// Software encoders use all processors and may look ahead. They hold back up to two seconds, or one
        /// frame if a frame lasts longer.
        case throughput
        /// The encoder may look ahead, use several threads and hold pictures back.
        case quality
    }
}

extension CompressionProperties {
    /// Throws for properties that no encoder can combine, for any source. Opens nothing.
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

    /// Throws for pictures that the requested level, or every level, forbids.
    /// - Parameters:
    ///   - size: the size of the pictures.
    ///   - rate: the frame rate; nil if the source decides, which assumes the slowest rate.
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

    /// The error for a feature that needs a higher profile, whether the user or the encoder chose the
    /// profile.
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
    /// Throws for a bit rate that the level forbids.
    func refuse(
        bitRate: Int, profile: CompressionProperties.Profile, codec: Codec
    ) throws(EncoderError) {
        let highest = maximumBitRate(for: profile, codec: codec)
        guard bitRate > highest else { return }
        throw EncoderError(
            .contradiction(
                "level \(self) allows \(BitRate(highest)), not \(BitRate(bitRate)); "
                    + "lower --bitrate or --max-bitrate, or use --level auto"))
    }
}
