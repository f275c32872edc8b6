import CFFmpeg
import Capture

/// Opens compression sessions on libx264.
enum SoftwareEncoder {
    static let name = "libx264"

    static func open(
        _ configuration: EncoderConfiguration, source: PictureFormat
    ) throws(EncoderError) -> VideoEncoder {
        let properties = try SessionProperties(
            configuration, source: source,
            limits: SessionProperties.Limits(
                encoder: name, profiles: EncoderConfiguration.Profile.allCases,
                rateControlModes: Set(RateControl.Mode.allCases), maximumSize: nil, minimumSize: nil,
                maximumSlices: 32, hasBPictures: true))
        let input = try SoftwareInput(source: source, size: properties.size, color: properties.color)
        let session = try CodecSession(name: name, options: options(properties)) { context in
            context.configure(properties)
            context.pointee.pix_fmt = input.pixelFormat
            context.pointee.thread_count = threadCount(properties)
        }
        return try VideoEncoder(
            session: session, input: input, properties: properties, details: EncoderDetails(nil, properties))
    }

    private static func options(_ properties: SessionProperties) -> [(String, String)] {
        let isRealtime = properties.latency == .realtime
        var options = [
            ("preset", isRealtime ? "veryfast" : "medium"),
            (
                "profile",
                properties.profile == .constrainedBaseline ? "baseline" : properties.profile.rawValue
            ),
            ("forced-idr", "1"),
            ("coder", properties.entropyMode.rawValue),
            ("x264-params", parameters(properties)),
        ]
        if isRealtime { options.append(("tune", "zerolatency")) }
        if let level = properties.level { options.append(("level", "\(level)")) }
        switch properties.rateControl {
        // x264 takes 0 for lossless, which none of these profiles has.
        case .constantQuantizer(let quantizer): options.append(("qp", "\(max(1, quantizer))"))
        case .constantQuality(let quality), .qualityVariableBitRate(let quality, _, _, _):
            options.append(("crf", "\(quality)"))
        case .constantBitRate, .variableBitRate: break
        }
        return options
    }

    /// Keyframes are ours alone (no scene cuts, no open GOPs), and a picture is one slice: zerolatency would
    /// slice it by the number of threads.
    private static func parameters(_ properties: SessionProperties) -> String {
        // Frames come at a constant rate; x264 would hold one back to find out how long each lasts.
        var parameters = [
            "scenecut=0", "open-gop=0", "force-cfr=1", "sliced-threads=\(sharesSlices(properties) ? 1 : 0)",
        ]
        if properties.latency == .quality, let delay = properties.maximumFrameDelay {
            let lookahead = max(0, delay - properties.bFrames - Int(threadCount(properties)) + 1)
            parameters += [
                "rc-lookahead=\(lookahead)", "sync-lookahead=0", lookahead == 0 ? "mbtree=0" : "mbtree=1",
            ]
        }
        return parameters.joined(separator: ":")
    }

    /// Whether each slice has a thread, for which x264 wants four rows of macroblocks; it would make fewer
    /// slices otherwise.
    private static func sharesSlices(_ properties: SessionProperties) -> Bool {
        properties.slices > 1 && 4 * properties.slices <= (properties.size.height + 15) / 16
    }

    /// Each thread but the first holds a frame back, unless they share a picture's slices. Nought leaves the
    /// number to x264.
    private static func threadCount(_ properties: SessionProperties) -> Int32 {
        if properties.slices > 1 { return sharesSlices(properties) ? Int32(properties.slices) : 1 }
        guard properties.latency == .quality else { return 1 }
        guard let delay = properties.maximumFrameDelay else { return 0 }
        return Int32(max(1, min(16, delay - properties.bFrames + 1)))
    }
}

extension UnsafeMutablePointer<AVCodecContext> {
    /// What means the same to every encoder of libavcodec.
    func configure(_ properties: SessionProperties) {
        pointee.width = Int32(properties.size.width)
        pointee.height = Int32(properties.size.height)
        let (numerator, denominator) = (
            Int32(properties.frameRate.numerator), Int32(properties.frameRate.denominator)
        )
        pointee.framerate = AVRational(num: numerator, den: denominator)
        pointee.time_base = AVRational(num: denominator, den: numerator)
        pointee.gop_size = Int32(clamping: properties.keyframeInterval)
        pointee.max_b_frames = Int32(properties.bFrames)
        pointee.slices = Int32(properties.slices)
        pointee.color_range = properties.color.range == .full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        pointee.colorspace = AVColorSpace(UInt32(properties.color.matrix.rawValue))
        pointee.color_primaries = AVColorPrimaries(UInt32(properties.color.primaries))
        pointee.color_trc = AVColorTransferCharacteristic(UInt32(properties.color.transfer))
        // 4:2:0 as MPEG-2 and later site it: level with the left luma sample.
        pointee.chroma_sample_location = AVCHROMA_LOC_LEFT
        switch properties.rateControl {
        case .constantBitRate(let rate, let window):
            setRates(average: rate, maximum: rate, window: window)
        case .variableBitRate(let rate, let maximum, let window):
            setRates(average: rate, maximum: maximum, window: window)
        case .qualityVariableBitRate(_, let rate, let maximum, let window):
            setRates(average: rate, maximum: maximum, window: window)
        case .constantQuantizer, .constantQuality:
            break
        }
    }

    private func setRates(average: Int, maximum: Int, window: Double) {
        pointee.bit_rate = Int64(average)
        pointee.rc_max_rate = Int64(maximum)
        pointee.rc_buffer_size = Int32(clamping: Int(Double(maximum) * window))
    }
}
