import Bitstream
import Capture

/// Opens a recording's encoder for one codec: the first, and another in place of one that failed.
///
/// An encoder that failed before it gave anything is not tried again, so that a GPU that opens but does not
/// encode makes way for the next. Used by one thread at a time.
public final class EncoderSupply {
    /// The encoder in use, and why not others. Nil before the first `open`.
    public private(set) var choice: Choice?

    private let request: EncoderRequest
    private var configuration: EncoderConfiguration
    /// What to go back to where no encoder can be opened with a changed one.
    private var provenConfiguration: EncoderConfiguration?
    private var source: PictureFormat
    private let inputs: EncoderInputs
    /// The stream of the encoder in use; the source's own properties where the camera codes.
    public private(set) var stream: Stream
    private var current: (label: String, progress: EncoderProgress)?
    private var fruitless: [String] = []

    /// What was opened.
    public struct Choice: Sendable {
        /// Nil where the camera's own coding is taken.
        public let details: EncoderDetails?
        /// For people.
        public let name: String
        /// Why each encoder that would have come before it was passed over.
        public let passedOver: [String]
        /// How it was set up, where that is not obvious.
        public let notes: [EncoderNote]
    }

    /// One supply for each configuration, of codecs that differ. Encoders that take the same form of a picture
    /// share it. Nothing is opened yet.
    public static func supplies(
        _ request: EncoderRequest, configurations: [EncoderConfiguration], source: PictureFormat
    ) -> [EncoderSupply] {
        let inputs = EncoderInputs(codecs: configurations.map(\.codec))
        return configurations.map {
            EncoderSupply(request, configuration: $0, source: source, inputs: inputs)
        }
    }

    private init(
        _ request: EncoderRequest, configuration: EncoderConfiguration, source: PictureFormat,
        inputs: EncoderInputs
    ) {
        self.request = request
        self.configuration = configuration
        self.source = source
        self.inputs = inputs
        stream = Stream(
            size: source.size, frameRate: source.frameRate, color: source.color,
            bFrames: configuration.bFrames)
    }

    /// The standard that its encoders code by.
    public var codec: Codec { configuration.codec }

    /// Frames from one keyframe to the next.
    public var keyframeInterval: Int { configuration.keyframeInterval(at: source.frameRate) }

    /// What an open encoder's stream says of itself.
    public struct Stream: Sendable {
        /// The picture as it is shown.
        public let size: PictureSize
        /// Nominal frames a second.
        public let frameRate: FrameRate
        /// Range, matrix, primaries and transfer.
        public let color: ColorEncoding
        /// B pictures in a row at most.
        public let bFrames: Int
    }

    /// Opens encoders of another average rate, in bits a second, from now on. A constant quantiser or quality
    /// makes way for it, and so does a lower maximum; where no encoder takes the rate, the old one stays.
    public func setBitRate(_ rate: Int) {
        provenConfiguration = provenConfiguration ?? configuration
        configuration.rateControl = configuration.rateControl.changed(toBitRate: rate)
        // It is closed because of the rate, whether it gave anything or not.
        current = nil
    }

    /// Opens encoders for pictures of another format from now on; no encoder of a supply that shares inputs with
    /// this one may be open then.
    public func setSource(_ source: PictureFormat) {
        self.source = source
        // It is closed because of the source, whether it gave anything or not.
        current = nil
    }

    /// Opens an encoder; the one before it must be gone.
    public func open() throws(EncoderError) -> any PictureEncoder {
        guard let proven = provenConfiguration.take() else { return try openOne() }
        do throws(EncoderError) { return try openOne() } catch {
            configuration = proven
            return try openOne()
        }
    }

    private func openOne() throws(EncoderError) -> any PictureEncoder {
        if source.pixelFormat == .h264 {
            guard codec == .h264 else {
                throw EncoderError(
                    .contradiction(
                        "the camera's own H.264 cannot be written as \(codec); use another --format"))
            }
            let isPlain = configuration == EncoderConfiguration()
            let note = EncoderNote(
                "the camera's own H.264 is taken as it is; options of the coding have no effect",
                contradictsRequest: true)
            choice = Choice(
                details: nil, name: "none: the camera's own H.264", passedOver: [],
                notes: isPlain ? [] : [note])
            stream = Stream(
                size: source.size, frameRate: source.frameRate, color: source.color,
                bFrames: configuration.bFrames)
            return PassthroughEncoder()
        }
        if let current, !current.progress.hasProduced { fruitless.append(current.label) }
        let selection = try EncoderSelection.open(
            request, configuration: configuration, source: source, inputs: inputs, excluding: fruitless)
        let encoder = selection.encoder
        stream = Stream(
            size: encoder.size, frameRate: source.frameRate, color: encoder.color,
            bFrames: configuration.bFrames)
        current = (encoder.details.label, encoder.progress)
        choice = Choice(
            details: encoder.details, name: encoder.name, passedOver: selection.passedOver,
            notes: encoder.notes + request.notes(on: encoder.details))
        return encoder
    }
}

extension EncoderRequest {
    /// What was asked of a GPU and means nothing to the encoder that was found.
    fileprivate func notes(on details: EncoderDetails) -> [EncoderNote] {
        guard lowPower != .auto, details.entryPoint == nil else { return [] }
        return [
            EncoderNote(
                "--low-power \(lowPower.rawValue) has no effect: \(details.implementation) is software",
                contradictsRequest: true)
        ]
    }
}
