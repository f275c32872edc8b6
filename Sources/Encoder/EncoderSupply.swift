import Bitstream
import Pictures
import Threading

/// Opens a recording's encoder for one codec: the first, and another in place of one that failed.
///
/// An encoder that never gave anything before it failed is not tried again, so that a GPU that opens but does not
/// encode makes way for the next. One that did may only have been reset. Used by one thread at a time.
public final class EncoderSupply {
    /// The encoder in use, and why not others. Nil before the first `open`.
    public private(set) var choice: Choice?

    private var request: EncoderRequest
    private var configuration: EncoderConfiguration
    /// What to go back to where no encoder can be opened with a changed one.
    private var provenConfiguration: EncoderConfiguration?
    private var source: PictureFormat
    private let inputs: SharedInputs
    /// Why hardware is not used any more; nil while it is.
    private var leavingReason: String?
    /// The stream of the encoder in use; the source's own properties where the camera codes.
    public private(set) var stream: Stream
    private var current: (label: String, progress: EncoderProgress)?
    private var fruitless: [String] = []
    private var fruitful: Set<String> = []
    /// Of all its encoders, one after the other.
    private let regulator = RateRegulator()
    /// The encoder in use; nil where the camera codes.
    private weak var openEncoder: VideoEncoder?

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
        let inputs = SharedInputs(codecs: configurations.map(\.codec), source: source)
        return configurations.map {
            EncoderSupply(request, configuration: $0, source: source, inputs: inputs)
        }
    }

    private init(
        _ request: EncoderRequest, configuration: EncoderConfiguration, source: PictureFormat,
        inputs: SharedInputs
    ) {
        self.request = request
        self.configuration = configuration
        self.source = source
        self.inputs = inputs
        stream = Stream(
            size: source.size, frameRate: source.frameRate, color: source.color,
            pixelAspect: source.pixelAspect, bFrames: configuration.bFrames)
    }

    /// The standard that its encoders code by.
    public var codec: Codec { configuration.codec }

    /// Bits a second that the level allows; nil where none was asked for.
    public var highestBitRate: Int? {
        guard let level = configuration.level, let profile = choice?.details?.profile else { return nil }
        return level.maximumBitRate(for: profile, codec: codec)
    }

    /// Render nodes in whose driver a thread hangs since an encoder was to be opened on them, in any of the
    /// recording's supplies.
    public var hungNodes: [String] { inputs.current.nodes.filter { $0.value.hangs > 0 }.keys.sorted() }

    /// From one regular keyframe to the next.
    public var keyframeInterval: KeyframeInterval { configuration.keyframeInterval }

    /// What an open encoder's stream says of itself.
    public struct Stream: Sendable {
        /// The picture as it is shown.
        public let size: PictureSize
        /// Nominal frames a second.
        public let frameRate: FrameRate
        /// Range, matrix, primaries and transfer.
        public let color: ColorEncoding
        /// Nil for square pixels.
        public let pixelAspect: PixelAspect?
        /// B pictures in a row at most.
        public let bFrames: Int
    }

    /// Codes at another rate from now on: in the open encoder where that takes it, else in those that are opened
    /// from now on. A constant quantiser or quality makes way for an average, and so does a lower maximum; where no
    /// encoder takes the rate, the old one stays.
    /// - Returns: whether the open encoder goes on.
    public func change(_ change: RateChange) -> Bool {
        let changed = configuration.rateControl.changed(change)
        if changed == configuration.rateControl { return true }
        if let openEncoder, openEncoder.changeRates(to: changed) {
            configuration.rateControl = changed
            choice = choice.map {
                Choice(
                    details: openEncoder.details, name: openEncoder.name, passedOver: $0.passedOver,
                    notes: $0.notes)
            }
            return true
        }
        provenConfiguration = provenConfiguration ?? configuration
        configuration.rateControl = changed
        // It is closed because of the rate, whether it gave anything or not.
        current = nil
        return false
    }

    /// Opens encoders for pictures of another format from now on.
    public func setSource(_ source: PictureFormat) {
        self.source = source
        inputs.follow(source)
        regulator.followAnotherSource()
        // It is closed because of the source, whether it gave anything or not.
        current = nil
    }

    /// Shares nothing any more with encoders that are open: a thread hangs in one of them.
    /// - Parameter isForGood: no hardware encoder is opened any more.
    /// - Returns: false where hardware is all that may be used, or is not used now.
    public func leaveHardware(isForGood: Bool) -> Bool {
        inputs.renew()
        guard isForGood else { return true }
        guard request.preference == .auto, request.renderNode == nil, let label = current?.label,
            choice?.details?.renderNode != nil
        else { return false }
        request.preference = .software
        leavingReason = "\(label) failed or hung again and again"
        return true
    }

    /// Opens an encoder; the one before it must be gone, or given up.
    /// - Parameter watch: where it is told that a driver is being asked.
    public func open(_ watch: CallWatch = CallWatch()) throws(EncoderError) -> any PictureEncoder {
        guard let proven = provenConfiguration.take() else { return try openOne(watch) }
        do throws(EncoderError) { return try openOne(watch) } catch {
            configuration = proven
            return try openOne(watch)
        }
    }

    private func openOne(_ watch: CallWatch) throws(EncoderError) -> any PictureEncoder {
        if source.pixelFormat == .h264 {
            guard codec == .h264 else {
                throw EncoderError(
                    .contradiction(
                        "the camera's own H.264 cannot be written as \(codec); use another --format"))
            }
            choice = Choice(details: nil, name: "none: the camera's own H.264", passedOver: [], notes: [])
            stream = Stream(
                size: source.size, frameRate: source.frameRate, color: source.color,
                pixelAspect: source.pixelAspect, bFrames: configuration.bFrames)
            openEncoder = nil
            return PassthroughEncoder()
        }
        judge()
        let selection = try select(inputs.current, watch)
        let encoder = selection.encoder
        stream = Stream(
            size: encoder.size, frameRate: source.frameRate, color: encoder.color,
            pixelAspect: source.pixelAspect, bFrames: configuration.bFrames)
        current = (encoder.details.label, encoder.progress)
        openEncoder = encoder
        choice = Choice(
            details: encoder.details, name: encoder.name,
            passedOver: [leavingReason].compactMap { $0 } + selection.passedOver,
            notes: encoder.notes + request.notes(on: encoder.details))
        return encoder
    }

    /// Remembers whether the encoder in use was of any use.
    private func judge() {
        guard let current else { return }
        if current.progress.hasProduced {
            fruitful.insert(current.label)
        } else if !fruitful.contains(current.label) {
            fruitless.append(current.label)
        }
    }

    /// Nothing of the supply is changed before the driver has answered.
    private func select(
        _ inputs: EncoderInputs, _ watch: CallWatch
    ) throws(EncoderError) -> EncoderSelection {
        let call = watch.begin(patience: Self.openingPatience)
        defer { watch.end(call) }
        return try EncoderSelection.open(
            request, configuration: configuration, source: source, inputs: inputs, regulator: regulator,
            excluding: fruitless)
    }

    /// Ticks of a watchdog. A driver may load and compile much; a service manager's patience is to be longer.
    private static let openingPatience = 15
}

/// What all supplies of a recording take their inputs from.
private final class SharedInputs {
    private let codecs: [Codec]
    private var source: PictureFormat
    private(set) var current: EncoderInputs

    init(codecs: [Codec], source: PictureFormat) {
        self.codecs = codecs
        self.source = source
        current = EncoderInputs(codecs: codecs)
    }

    /// Inputs are of one format: the first supply that has another begins anew for all.
    func follow(_ source: PictureFormat) {
        if source !== self.source { renew() }
        self.source = source
    }

    /// Encoders that are opened from now on share nothing with those before.
    func renew() { current = EncoderInputs(codecs: codecs, nodes: current.nodes) }
}

extension EncoderRequest {
    /// What was asked of a GPU and means nothing to the encoder that was found.
    fileprivate func notes(on details: EncoderDetails) -> [EncoderNote] {
        guard details.entryPoint == nil else { return [] }
        let useless = [
            lowPower == .auto ? nil : "--low-power \(lowPower.rawValue)",
            upload == .auto ? nil : "--upload \(upload.rawValue)",
        ]
        return useless.compactMap { $0 }.map {
            EncoderNote(
                "\($0) has no effect: \(details.implementation) is software", contradictsRequest: true)
        }
    }
}
