import Bitstream
import CamPictures

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
