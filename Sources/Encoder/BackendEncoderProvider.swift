import Bitstream
import Pictures
import Threading

/// Opens encoders of the back ends that this machine has, the first that takes the configuration.
///
/// An encoder that never gave anything before it failed is not tried again, so that a GPU that opens but does not
/// encode makes way for the next. One that did may only have been reset.
public final class BackendEncoderProvider: EncoderProvider {
    public private(set) var choice: EncoderChoice?
    public private(set) var stream: EncodedStream

    private let request: EncoderRequest
    private var backends: [any EncoderBackend]
    private var configuration: EncoderConfiguration
    /// What to go back to where no encoder can be opened with a changed one.
    private var provenConfiguration: EncoderConfiguration?
    private var source: PictureFormat
    private let inputs: SharedInputs
    /// Why drivers are no longer used; nil while they are.
    private var givingUpReason: String?
    private var current: (label: String, waitsForDriver: Bool, progress: EncoderProgress)?
    private var failedLabels: [String] = []
    private var provenLabels: Set<String> = []
    /// Of all its encoders, one after another.
    private let regulator = RateRegulator()
    /// The encoder in use; nil if the camera codes.
    private weak var openEncoder: VideoEncoder?

    /// One provider for each configuration, of codecs that differ. Encoders that take the same form of a picture
    /// share it. Nothing is opened yet.
    public static func providers(
        _ request: EncoderRequest, configurations: [EncoderConfiguration], source: PictureFormat
    ) -> [BackendEncoderProvider] {
        let inputs = SharedInputs(codecs: configurations.map(\.codec), source: source)
        return configurations.map {
            BackendEncoderProvider(request, configuration: $0, source: source, inputs: inputs)
        }
    }

    private init(
        _ request: EncoderRequest, configuration: EncoderConfiguration, source: PictureFormat,
        inputs: SharedInputs
    ) {
        self.request = request
        backends = request.backends
        self.configuration = configuration
        self.source = source
        self.inputs = inputs
        stream = EncodedStream(of: source, bFrames: configuration.bFrames)
    }

    public var codec: Codec { configuration.codec }

    /// Bits a second that the level allows; nil if none was asked for.
    public var highestBitRate: Int? {
        guard let level = configuration.level, let profile = choice?.details?.profile else { return nil }
        return level.maximumBitRate(for: profile, codec: codec)
    }

    /// Render nodes in whose driver a thread hangs since an encoder was to be opened on them, in any of the
    /// recording's providers.
    public var hungNodes: [String] { inputs.current.nodes.filter { $0.value.hangs > 0 }.keys.sorted() }

    public var keyframeInterval: KeyframeInterval { configuration.keyframeInterval }

    public func change(_ change: RateChange) -> Bool {
        let changed = configuration.rateControl.changed(change)
        if changed == configuration.rateControl { return true }
        if let openEncoder, openEncoder.changeRates(to: changed) {
            configuration.rateControl = changed
            choice = choice.map {
                EncoderChoice(
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

    public func follow(_ source: PictureFormat) {
        self.source = source
        inputs.follow(source)
        regulator.followAnotherSource()
        // It is closed because of the source, whether it gave anything or not.
        current = nil
    }

    public func discardSharedState() { inputs.renew() }

    public func giveUpDrivers() -> Bool {
        inputs.renew()
        let others = backends.filter { !$0.waitsForDriver }
        guard !others.isEmpty, let current, current.waitsForDriver else { return false }
        backends = others
        givingUpReason = "\(current.label) failed or hung repeatedly"
        return true
    }

    public func open(_ watch: CallWatch) throws(EncoderError) -> any PictureEncoder {
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
            choice = EncoderChoice(details: nil, name: "none: the camera's own H.264")
            stream = EncodedStream(of: source, bFrames: configuration.bFrames)
            openEncoder = nil
            return PassthroughEncoder()
        }
        judge()
        let selection = try select(inputs.current, watch)
        let encoder = selection.encoder
        stream = EncodedStream(
            of: source, size: encoder.size, color: encoder.color, bFrames: configuration.bFrames)
        current = (encoder.details.label, encoder.waitsForDriver, encoder.progress)
        openEncoder = encoder
        choice = EncoderChoice(
            details: encoder.details, name: encoder.name,
            passedOver: [givingUpReason].compactMap { $0 } + selection.passedOver,
            notes: encoder.notes + request.notes(on: encoder.details))
        return encoder
    }

    /// Remembers whether the encoder in use was of any use.
    private func judge() {
        guard let current else { return }
        if current.progress.hasProduced {
            provenLabels.insert(current.label)
        } else if !provenLabels.contains(current.label) {
            failedLabels.append(current.label)
        }
    }

    /// Nothing of the provider is changed before the driver has answered.
    private func select(
        _ inputs: EncoderInputs, _ watch: CallWatch
    ) throws(EncoderError) -> OpenedEncoder {
        let call = watch.begin(patience: Self.openingPatience)
        defer { watch.end(call) }
        return try OpenedEncoder.open(
            backends,
            EncoderAttempt(
                configuration: configuration, source: source, inputs: inputs, regulator: regulator,
                failedLabels: failedLabels))
    }

    /// Ticks of a watchdog. A driver may load and compile much; a service manager's patience is to be longer.
    private static let openingPatience = 15
}

/// What all providers of a recording take their inputs from.
private final class SharedInputs {
    private let codecs: [Codec]
    private var source: PictureFormat
    private(set) var current: EncoderInputs

    init(codecs: [Codec], source: PictureFormat) {
        self.codecs = codecs
        self.source = source
        current = EncoderInputs(codecs: codecs)
    }

    /// Inputs are of one format: the first provider that has another makes the others share new ones.
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
                "\($0) has no effect: \(details.implementation) does not run on a GPU",
                contradictsRequest: true)
        }
    }
}
