import Bitstream
import Encoder
import CamPictures
import CamPlatform

/// Returns its encoders one after another, and records the requests.
final class ScriptedProvider: EncoderProvider, @unchecked Sendable {
    // Safe to share: the encode thread's alone, until it has ended.

    let codec: Codec
    var keyframeInterval: KeyframeInterval
    var pictureInterval: Duration?
    var sourceConversion: SourceConversion?
    var choice: EncoderChoice? { EncoderChoice(details: nil, name: "scripted") }
    private(set) var stream: EncodedStream
    /// A time lapse's.
    var playbackRate: FrameRate? {
        didSet { if let format = formats.last ?? (try? Pictures().format) { describe(format) } }
    }
    /// One for each session; when there are no more, opening fails.
    var encoders: [any PictureEncoder]
    /// Once there are no more encoders.
    var openFailure = EncoderError.Kind.openFailed(encoder: "scripted", detail: "gone")
    /// Whether the open encoder accepts other rates.
    var changesRateInPlace = false
    /// Whether there is an encoder that needs no driver.
    var hasSoftware = false
    /// The requests, in order.
    private(set) var rates: [RateChange] = []
    private(set) var formats: [PictureFormat] = []
    private(set) var discards = 0
    private(set) var wishesToGiveUp = 0
    private var openings = 0

    init(
        _ encoders: [any PictureEncoder], codec: Codec = .h264,
        keyframeInterval: KeyframeInterval = .frames(5)
    ) throws {
        self.encoders = encoders
        self.codec = codec
        self.keyframeInterval = keyframeInterval
        stream = EncodedStream(of: try Pictures().format)
    }

    func open(_ watch: CallWatch) throws(EncoderError) -> any PictureEncoder {
        guard openings < encoders.count else { throw EncoderError(openFailure) }
        defer { openings += 1 }
        return encoders[openings]
    }

    func change(_ change: RateChange) -> Bool {
        rates.append(change)
        return changesRateInPlace
    }

    func follow(_ source: PictureFormat) {
        formats.append(source)
        describe(source)
    }

    private func describe(_ source: PictureFormat) {
        stream = EncodedStream(of: source, playbackRate: playbackRate)
    }

    func discardSharedState() { discards += 1 }

    func giveUpDrivers() -> Bool {
        wishesToGiveUp += 1
        defer { hasSoftware = false }
        return hasSoftware
    }
}
