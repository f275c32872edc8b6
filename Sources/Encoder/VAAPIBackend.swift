import CamAcceleration
import Bitstream
import CFFmpeg
import CamPictures

/// Encoders on render nodes, through libavcodec's `h264_vaapi` and `hevc_vaapi`: for each node EncSlice, then
/// EncSliceLP.
struct VAAPIBackend: EncoderBackend {
    /// The only node to use; nil for all nodes.
    let renderNode: String?
    /// The choice between a driver's entry points.
    let lowPower: EncoderRequest.LowPower
    /// The method of uploading pictures to the GPU.
    let upload: UploadMethod
    /// The decoder of a camera's Motion JPEG.
    let jpeg: JPEGMode
    /// Whether a GPU reads the camera's pictures without a copy.
    let zeroCopy: ZeroCopyMode

    /// vaSyncSurface and similar calls have no timeout.
    var waitsForDriver: Bool { true }

    func open(_ attempt: inout EncoderAttempt) throws(EncoderError) -> VideoEncoder? {
        let nodes = renderNode.map { [$0] } ?? RenderNode.all()
        if nodes.isEmpty { attempt.fail(EncoderError(.noRenderNode)) }
        for node in nodes {
            do throws(EncoderError) {
                if let encoder = try open(&attempt, on: node) { return encoder }
            } catch {
                if case .contradiction = error.kind { throw error }
                if case .driverHangs = error.kind { attempt.inputs.recordHang(on: node) }
                attempt.fail(error)
            }
        }
        return nil
    }

    private func open(
        _ attempt: inout EncoderAttempt, on node: String
    ) throws(EncoderError) -> VideoEncoder? {
        let connection = try attempt.inputs.connection(to: node)
        let codec = attempt.configuration.codec
        let capabilities = try VAAPICapabilities.query(connection, codecs: [codec])
        for entryPoint in lowPower.entryPoints {
            let candidate = Candidate(
                codec: codec, connection: connection, entryPoint: entryPoint,
                capabilities: capabilities.filter { $0.entryPoint == entryPoint })
            if attempt.leavesOut(candidate.label) { continue }
            do throws(EncoderError) { return try open(candidate, attempt) } catch {
                switch error.kind {
                case .contradiction, .driverHangs: throw error
                default: attempt.fail(error)
                }
            }
        }
        return nil
    }

    /// The name of the codec's encoder in libavcodec.
    static func name(_ codec: Codec) -> String { "\(codec.rawValue)_vaapi" }

    /// One entry point of a driver for one codec, with the capabilities of all profiles.
    struct Candidate {
        let codec: Codec
        let connection: VADisplayConnection
        let entryPoint: VAAPICapabilities.EntryPoint
        let capabilities: [VAAPICapabilities]

        var label: String { "\(VAAPIBackend.name(codec)) on \(connection.node) (\(entryPoint.rawValue))" }

        func details(_ properties: SessionProperties) -> EncoderDetails {
            EncoderDetails(
                implementation: VAAPIBackend.name(codec), renderNode: connection.node,
                driver: connection.driver,
                entryPoint: entryPoint, properties)
        }
    }

    private func open(
        _ candidate: Candidate, _ attempt: EncoderAttempt
    ) throws(EncoderError) -> VideoEncoder {
        let (configuration, source) = (attempt.configuration, attempt.source)
        guard let first = candidate.capabilities.first else {
            throw EncoderError(
                .unsupported(
                    "\(candidate.connection.node) has no \(candidate.entryPoint.rawValue) for \(candidate.codec)"
                ))
        }
        let properties = try SessionProperties(
            configuration, source: source, framing: attempt.inputs.treatment(for: configuration).framing,
            limits: SessionProperties.Limits(
                encoder: candidate.label, profiles: candidate.capabilities.compactMap(\.configurationProfile),
                rateControlModes: first.rateControlModes, maximumSize: first.maximumSize,
                minimumSize: first.minimumSize, maximumSlices: max(1, first.maximumSlices),
                hasBPictures: first.hasBPictures, roundsSlices: true,
                rateTraits: .driver(candidate.codec)))
        let input = try attempt.inputs.surfaces(
            on: candidate.connection, source: source, for: configuration, size: properties.size,
            color: properties.color, upload: upload, jpeg: jpeg, zeroCopy: zeroCopy,
            heldPictures: properties.bFrames + (Self.overlaps(properties) ? 2 : 1))
        let rates = SessionRates(properties, attempt.regulator, followsTime: false)
        let session = try Self.openSession(candidate, properties, input) { context in
            context.configure(properties, rates)
            context.pointee.profile = properties.profile.number(in: properties.codec)
            if let level = Level.declared(by: properties) {
                context.pointee.level = Int32(level.number(in: properties.codec))
            }
            if case .constantQuality(let quality) = properties.rateControl {
                context.pointee.global_quality = Int32(quality)
            }
            if case .qualityVariableBitRate(let quality, _, _, _) = properties.rateControl {
                context.pointee.global_quality = Int32(quality)
            }
            input.attach(to: context)
        }
        return try VideoEncoder(
            session: session, input: input, properties: properties,
            details: candidate.details(properties), waitsForDriver: waitsForDriver,
            regulator: attempt.regulator, rates: rates, notes: input.notes)
    }

    private static func openSession(
        _ candidate: Candidate, _ properties: SessionProperties, _ input: SurfaceInput,
        configure: (UnsafeMutablePointer<AVCodecContext>) -> Void
    ) throws(EncoderError) -> LibavEncoder {
        do throws(EncoderError) {
            return try LibavEncoder(
                name: name(candidate.codec), options: options(properties, entryPoint: candidate.entryPoint),
                on: candidate.connection
            ) { (context) throws(EncoderError) in configure(context) }
        } catch {
            // A thread hangs in the driver, perhaps holding its lock: releasing the surfaces would hang, too.
            if case .driverHangs = error.kind { _ = Unmanaged.passRetained(input) }
            throw error
        }
    }

    /// Whether two pictures are coded at once.
    private static func overlaps(_ properties: SessionProperties) -> Bool {
        properties.latency == .quality && (properties.maximumFrameDelay ?? .max) > properties.bFrames
    }

    private static func options(
        _ properties: SessionProperties, entryPoint: VAAPICapabilities.EntryPoint
    ) -> [(String, String)] {
        var options = [
            ("low_power", entryPoint == .encSliceLP ? "1" : "0"),
            ("rc_mode", properties.rateControl.mode.rawValue.uppercased()),
            // Pictures in flight at once; each one beyond the first adds a frame of delay.
            ("async_depth", overlaps(properties) ? "2" : "1"),
        ]
        if properties.codec == .h264 {
            options.append(("coder", properties.entropyMode.rawValue))
            // With timing messages the SPS would state the bit rate in its HRD parameters, and change
            // whenever the rate does.
            options.append(("sei", "-timing"))
        }
        if case .constantQuantizer(let quantizer) = properties.rateControl {
            options.append(("qp", "\(max(1, quantizer))"))
        }
        return options
    }
}

extension VAAPICapabilities {
    fileprivate var configurationProfile: CompressionProperties.Profile? {
        switch profile {
        case .h264High: .high
        case .h264Main, .hevcMain: .main
        case .h264ConstrainedBaseline: .constrainedBaseline
        // camrec encodes 8 bits per sample.
        case .hevcMain10: nil
        }
    }
}

extension EncoderRequest.LowPower {
    fileprivate var entryPoints: [VAAPICapabilities.EntryPoint] {
        switch self {
        case .auto: [.encSlice, .encSliceLP]
        case .on: [.encSliceLP]
        case .off: [.encSlice]
        }
    }
}
