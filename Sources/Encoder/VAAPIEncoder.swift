import CFFmpeg
import Capture

/// Opens compression sessions on a render node, through libavcodec's `h264_vaapi`.
enum VAAPIEncoder {
    static let name = "h264_vaapi"

    /// What one entry point of a driver can do for H.264, all profiles together.
    struct Candidate {
        let connection: VADisplayConnection
        let entryPoint: EncoderCapabilities.EntryPoint
        let capabilities: [EncoderCapabilities]

        var label: String { "\(name) on \(connection.node) (\(entryPoint.rawValue))" }
    }

    static func open(
        _ configuration: EncoderConfiguration, source: PictureFormat, on candidate: Candidate
    ) throws(EncoderError) -> VideoEncoder {
        guard let first = candidate.capabilities.first else {
            throw EncoderError(
                .unsupported("\(candidate.connection.node) has no \(candidate.entryPoint.rawValue) for H.264")
            )
        }
        let properties = try SessionProperties(
            configuration, source: source,
            limits: SessionProperties.Limits(
                encoder: candidate.label, profiles: candidate.capabilities.compactMap(\.configurationProfile),
                rateControlModes: first.rateControlModes, maximumSize: first.maximumSize,
                minimumSize: first.minimumSize, maximumSlices: max(1, first.maximumSlices),
                hasBPictures: first.hasBPictures, roundsSlices: true))
        // One to fill, those that the encoder keeps for reordering, and those under way.
        let input = try SurfaceInput(
            connection: candidate.connection, source: source, size: properties.size, color: properties.color,
            surfaceCount: 4 + properties.bFrames)
        let session = try CodecSession(
            name: name, options: options(properties, entryPoint: candidate.entryPoint)
        ) { context in
            context.configure(properties)
            context.pointee.profile = properties.profile.number
            if let level = properties.level { context.pointee.level = Int32(level.number) }
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
            details: EncoderDetails(candidate, properties))
    }

    private static func options(
        _ properties: SessionProperties, entryPoint: EncoderCapabilities.EntryPoint
    ) -> [(String, String)] {
        let mayOverlap =
            properties.latency == .quality && (properties.maximumFrameDelay ?? .max) > properties.bFrames
        var options = [
            ("low_power", entryPoint == .encSliceLP ? "1" : "0"),
            ("rc_mode", properties.rateControl.mode.rawValue.uppercased()),
            ("coder", properties.entropyMode.rawValue),
            // Pictures that are under way at once; each above the first delays by a frame.
            ("async_depth", mayOverlap ? "2" : "1"),
        ]
        if case .constantQuantizer(let quantizer) = properties.rateControl {
            options.append(("qp", "\(max(1, quantizer))"))
        }
        return options
    }
}

extension EncoderCapabilities {
    fileprivate var configurationProfile: EncoderConfiguration.Profile? {
        switch profile {
        case "H264High": .high
        case "H264Main": .main
        case "H264ConstrainedBaseline": .constrainedBaseline
        default: nil
        }
    }
}
