import Bitstream
import CFFmpeg
import CamPictures

/// libx264 and libx265.
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

    /// libavcodec's name for the codec's encoder.
    static func name(_ codec: Codec) -> String {
        switch codec {
        case .h264: X264.name
        case .hevc: X265.name
        }
    }

    static func open(
        _ configuration: EncoderConfiguration, source: PictureFormat, inputs: EncoderInputs,
        regulator: RateRegulator
    ) throws(EncoderError) -> VideoEncoder {
        let codec = configuration.codec
        let name = name(codec)
        let framing = inputs.treatment.framing
        let properties = try SessionProperties(
            configuration, source: source, framing: framing,
            limits: SessionProperties.Limits(
                encoder: name,
                profiles: EncoderConfiguration.Profile.allCases.filter { $0.isDefined(in: codec) },
                rateControlModes: Set(RateControl.Mode.allCases), maximumSize: nil,
                // libx265 rejects pictures smaller than its smallest coding tree block.
                minimumSize: codec == .hevc ? PictureSize(16, 16) : nil,
                maximumSlices: codec == .h264 ? 32 : X265.maximumSlices(try framing.size(of: source.size)),
                hasBPictures: true,
                // libx265 needs a lookahead for them.
                preferredBFrames: codec == .h264 ? 3 : 0,
                leastFrameDelay: codec == .h264 ? X264.leastFrameDelay : X265.leastFrameDelay,
                rateTraits: codec == .h264 ? .x264 : .x265))
        if codec == .hevc { try X265.refuseCrash(at: properties.level, size: properties.size) }
        let input = try inputs.memory(for: source, size: properties.size, color: properties.color)
        let options = codec == .h264 ? X264.options(properties) : X265.options(properties)
        let rates = SessionRates(properties, regulator, followsTime: codec == .h264)
        let session = try CodecSession(name: name, options: options) { context in
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
        // For them 0 means lossless, which the profiles that camrec requests do not have.
        case .constantQuantizer(let quantizer): [("qp", "\(max(1, quantizer))")]
        case .constantQuality(let quality), .qualityVariableBitRate(let quality, _, _, _):
            [("crf", "\(quality)")]
        case .constantBitRate, .variableBitRate: []
        }
    }
}
