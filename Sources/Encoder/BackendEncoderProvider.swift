import Bitstream
import CamPictures
import CamPlatform
import CamConversion

/// Opens the first encoder, among all back ends of this machine, that accepts the configuration.
///
/// An encoder that failed before it produced anything is not tried again: the next encoder replaces a GPU
/// that opens but does not encode. An encoder that produced something may only have been reset, and is tried
/// again.
public final class BackendEncoderProvider: EncoderProvider {
    public var choice: EncoderChoice? {
        guard let opened else { return nil }
        return EncoderChoice(
            details: opened.details, name: opened.name, passedOver: opened.passedOver, notes: opened.notes,
            jpeg: inputs.current.jpeg.outcome, sharing: inputs.current.sharing.outcome)
    }
    public private(set) var stream: EncodedStream

    private var opened: EncoderChoice?
    private let request: EncoderRequest
    private var backends: [any EncoderBackend]
    private var configuration: CompressionProperties
    /// The configuration to return to if no encoder can be opened with a changed one.
    private var provenConfiguration: CompressionProperties?
    private var source: PictureFormat
    private let inputs: SharedInputs
    /// Why drivers are no longer used; nil while they are in use.
    private var givingUpReason: String?
    private var current: (label: String, waitsForDriver: Bool, progress: EncoderProgress)?
    /// Whether the failure of the encoder in use has another possible cause.
    private var isExcused = false
    private var failedLabels: [String] = []
    private var provenLabels: Set<String> = []
    /// Shared by all successive encoders of this provider.
    private let regulator = RateRegulator()
    /// The encoder in use; nil if the camera encodes.
    private weak var openEncoder: VideoEncoder?

    /// Creates one provider for each configuration. Encoders with the same input format share converted pictures;
    /// if the sizes differ, all pictures are converted once and then scaled. Opens nothing yet.
    /// - Parameters:
    ///   - treatment: the treatment of all encoders' pictures.
    ///   - sharedSurfaces: the GPU memory that the camera writes into; nil if nothing is shared.
    public static func providers(
        _ request: EncoderRequest, configurations: [CompressionProperties], source: PictureFormat,
        treatment: PictureTreatment = PictureTreatment(), sharedSurfaces: SharedSurfaces? = nil
    ) -> [BackendEncoderProvider] {
        let inputs = SharedInputs(
            configurations, source: source, treatment: treatment, sharedSurfaces: sharedSurfaces)
        return configurations.map {
            BackendEncoderProvider(request, configuration: $0, source: source, inputs: inputs)
        }
    }

    private init(
        _ request: EncoderRequest, configuration: CompressionProperties, source: PictureFormat,
        inputs: SharedInputs
    ) {
        self.request = request
        backends = request.backends
        self.configuration = configuration
        self.source = source
        self.inputs = inputs
        stream = EncodedStream(
            of: source, bFrames: configuration.bFrames ?? 0, playbackRate: configuration.playbackRate)
    }

    public var codec: Codec { configuration.codec }

    package var pictureInterval: Duration? {
        let rate = configuration.frameRate(of: source)
        return rate == source.frameRate ? nil : rate.frameDuration
    }

    package var sourceConversion: SourceConversion? { inputs.conversion }

    /// The maximum rate of the requested level in bits a second; nil if no level was requested.
    public var highestBitRate: Int? {
        guard let level = configuration.level, let profile = opened?.details?.profile else { return nil }
        return level.maximumBitRate(for: profile, codec: codec)
    }

    /// Render nodes in whose driver a thread has been hanging since any of the recording's providers tried to
    /// open an encoder on them.
    public var hungNodes: [String] { inputs.current.nodes.filter { $0.value.hangs > 0 }.keys.sorted() }

    public var keyframeInterval: KeyframeInterval { configuration.keyframeInterval }

    public func change(_ change: RateChange) -> Bool {
        let changed = configuration.rateControl.changed(change)
        if changed == configuration.rateControl { return true }
        if let openEncoder, openEncoder.changeRates(to: changed) {
            configuration.rateControl = changed
            opened = opened.map {
                EncoderChoice(
                    details: openEncoder.details, name: openEncoder.name, passedOver: $0.passedOver,
                    notes: $0.notes)
            }
            return true
        }
        provenConfiguration = provenConfiguration ?? configuration
        configuration.rateControl = changed
        // The encoder is closed for the new rate, so its progress does not count.
        current = nil
        return false
    }

    public func follow(_ source: PictureFormat) {
        self.source = source
        inputs.follow(source)
        regulator.followAnotherSource()
        // The encoder is closed for the new source, so its progress does not count.
        current = nil
    }

    public func discardSharedState() { inputs.discard() }

    public func noteFailure() {
        // JPEG decoding or shared memory may have caused the failure. The encoder is opened again, without
        // JPEG on its GPU or with copies of the pictures. With several codecs, this applies to each encoder.
        if let openEncoder, inputs.current.disableExtras(of: openEncoder.input) { isExcused = true }
    }

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
            guard inputs.treatment.isPlain else {
                throw EncoderError(
                    .contradiction(
                        "the camera's own H.264 cannot be changed; leave out "
                            + "\(inputs.treatment.options), or use another --format"))
            }
            guard configuration.size == nil, configuration.frameRate == nil, inputs.haveOneOfEachCodec else {
                throw EncoderError(
                    .contradiction(
                        "the camera's own H.264 has one size, frame rate and bit rate; record it once, or use "
                            + "another --format"))
            }
            opened = EncoderChoice(details: nil, name: "none: the camera's own H.264")
            stream = EncodedStream(
                of: source, bFrames: configuration.bFrames ?? 0, playbackRate: configuration.playbackRate)
            openEncoder = nil
            return PassthroughEncoder(statesCaptureTime: configuration.statesCaptureTime)
        }
        judge()
        let pictures = try inputs.pictures()
        let selection = try select(inputs.current, pictures, watch)
        let encoder = selection.encoder
        // The outputs prepare for this number of B pictures, so later encoders must not exceed it.
        let bFrames = configuration.bFrames ?? encoder.bFrames
        configuration.bFrames = bFrames
        provenConfiguration?.bFrames = bFrames
        stream = EncodedStream(
            at: configuration.frameRate(of: source), by: encoder, bFrames: bFrames,
            playbackRate: configuration.playbackRate)
        current = (encoder.details.label, encoder.waitsForDriver, encoder.progress)
        openEncoder = encoder
        opened = EncoderChoice(
            details: encoder.details, name: encoder.name,
            passedOver: [givingUpReason].compactMap { $0 } + selection.passedOver,
            notes: encoder.notes + request.notes(on: encoder.details))
        return encoder
    }

    /// Remembers whether the encoder in use ever produced anything.
    private func judge() {
        defer { isExcused = false }
        guard let current else { return }
        if current.progress.hasProduced {
            provenLabels.insert(current.label)
        } else if !isExcused, !provenLabels.contains(current.label) {
            failedLabels.append(current.label)
        }
    }

    /// Opens an encoder. The provider's state does not change before the driver has answered.
    /// - Parameter pictures: the format of the pictures that the encoder's input takes.
    private func select(
        _ inputs: EncoderInputs, _ pictures: PictureFormat, _ watch: CallWatch
    ) throws(EncoderError) -> OpenedEncoder {
        let call = watch.begin(patience: Self.openingPatience)
        defer { watch.end(call) }
        return try OpenedEncoder.open(
            backends,
            EncoderAttempt(
                configuration: configuration, source: pictures, inputs: inputs, regulator: regulator,
                failedLabels: failedLabels))
    }

    /// The time for opening an encoder, in ticks of the watchdog. A driver may load and compile a lot; a
    /// service manager must allow more time than this.
    private static let openingPatience = 15
}

/// The inputs that all providers of a recording share.
private final class SharedInputs {
    /// The treatment of all pictures.
    let treatment: PictureTreatment
    /// Whether the renditions differ by their codecs alone.
    let haveOneOfEachCodec: Bool
    private(set) var current: EncoderInputs
    /// Converts each picture once for several sizes; nil for one size, and until an encoder is opened.
    private(set) var conversion: SourceConversion?
    private let hasSeveralSizes: Bool
    private var source: PictureFormat
    /// The format of the converted pictures of the source, by which encoders that stay open know them.
    private var convertedFormat: PictureFormat?

    init(
        _ configurations: [CompressionProperties], source: PictureFormat, treatment: PictureTreatment,
        sharedSurfaces: SharedSurfaces?
    ) {
        (self.source, self.treatment) = (source, treatment)
        haveOneOfEachCodec = Set(configurations.map(\.codec)).count == configurations.count
        hasSeveralSizes = Set(configurations.map(\.size)).count > 1
        // The processor converts the pictures, and would read GPU memory, which may be slow.
        if hasSeveralSizes { sharedSurfaces?.giveUp("the pictures are recorded in several sizes") }
        current = EncoderInputs(
            codecs: configurations.map(\.codec),
            treatment: hasSeveralSizes ? treatment.ofRendition : treatment,
            sharing: sharedSurfaces?.record ?? SharingRecord(),
            sharedSurfaces: hasSeveralSizes ? nil : sharedSurfaces)
    }

    /// Returns the format of the pictures that encoders take: the source's, or that of the shared conversion.
    func pictures() throws(EncoderError) -> PictureFormat {
        guard hasSeveralSizes else { return source }
        if let conversion { return conversion.format }
        let made = try SourceConversion(source, treatment: treatment.shared, former: convertedFormat)
        (conversion, convertedFormat) = (made, made.format)
        return made.format
    }

    /// All inputs have one format: the first provider with a new format replaces the inputs for all.
    func follow(_ source: PictureFormat) {
        if source !== self.source {
            discard()
            convertedFormat = nil
        }
        self.source = source
    }

    /// Encoders opened from now on share nothing with earlier ones.
    func renew() { current = current.successor() }

    /// As `renew`, and no picture is converted in memory that a hung thread may still use.
    func discard() {
        renew()
        conversion = nil
    }
}

extension EncoderRequest {
    /// The GPU options that were requested but do not apply to the chosen encoder.
    fileprivate func notes(on details: EncoderDetails) -> [EncoderNote] {
        guard details.entryPoint == nil else { return [] }
        let useless = [
            lowPower == .auto ? nil : "--low-power \(lowPower.rawValue)",
            upload == .auto ? nil : "--upload \(upload.rawValue)",
            jpeg == .gpu ? "--jpeg gpu" : nil,
            zeroCopy == .on ? "--zero-copy on" : nil,
        ]
        return useless.compactMap { $0 }.map {
            EncoderNote(
                "\($0) has no effect: \(details.implementation) does not run on a GPU",
                contradictsRequest: true)
        }
    }
}
