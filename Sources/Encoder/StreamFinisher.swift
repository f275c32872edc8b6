import Bitstream
import CFFmpeg
import CamAcceleration
import CamPictures
import CamPlatform

/// Brings an encoder's packets into the guaranteed shape of access units, then checks the bytes that will be
/// written.
struct StreamFinisher {
    private let codec: Codec
    private let encoder: String
    private let slicesPerPicture: Int?
    private var shaper: StreamShaper
    private var checker: StreamShapeChecker
    private let skipsToFirstIDR: Bool
    private let statesCaptureTime: Bool

    /// - Parameters:
    ///   - slicesPerPicture: the required number of slices; nil for any number.
    ///   - amender: corrects the encoder's parameter sets; nil leaves them unchanged.
    ///   - statesCaptureTime: whether each picture gets a message with its capture time.
    ///   - skipsToFirstIDR: whether pictures before the first IDR are skipped; otherwise they are an error.
    init(
        codec: Codec, encoder: String, slicesPerPicture: Int?, amender: ParameterSetAmender?,
        statesCaptureTime: Bool = false, skipsToFirstIDR: Bool = false
    ) {
        self.codec = codec
        self.skipsToFirstIDR = skipsToFirstIDR
        self.statesCaptureTime = statesCaptureTime
        self.encoder = encoder
        self.slicesPerPicture = slicesPerPicture
        shaper = StreamShaper(
            pool: AccessUnitPool(codec: codec), amendParameterSets: amender.map { $0.amend })
        checker = StreamShapeChecker(codec: codec, slicesPerPicture: slicesPerPicture)
    }

    /// Takes the parameter sets that an encoder provides outside its packets; may be empty.
    mutating func prime(extradata: UnsafeRawBufferPointer) throws(EncoderError) {
        guard !extradata.isEmpty else { return }
        do {
            shaper.prime(parameterSets: try ParameterSets(annexB: extradata.bytes, codec: codec))
        } catch {
            throw EncoderError(.openFailed(encoder: encoder, detail: "its parameter sets: \(error)"))
        }
    }

    /// Requires an IDR next, because decoding must start over. Keeps the parameter sets.
    mutating func expectIDR() {
        shaper.expectIDR()
        checker = StreamShapeChecker(codec: codec, slicesPerPicture: slicesPerPicture)
    }

    /// Nil for a packet without a picture.
    mutating func finish(
        _ packet: UnsafeRawBufferPointer, _ frame: PendingFrames.Frame
    ) throws(EncoderError) -> AccessUnit? {
        do {
            guard
                let unit = try shaper.shape(
                    packet.bytes, frameNumber: frame.number, sequence: frame.sequence,
                    timestamp: frame.timestamp,
                    captureTime: statesCaptureTime ? WallTime.now - (Instant.now - frame.timestamp) : nil)
            else { return nil }
            try checker.check(unit, expectsIDR: frame.isIDRWanted ? true : nil)
            return unit
        } catch let error as StreamShapeError where error.rule == .startsWithoutIDR && skipsToFirstIDR {
            return nil
        } catch {
            throw EncoderError(.encodeFailed(encoder: encoder, detail: "\(error)"))
        }
    }
}

/// Corrects an encoder's parameter sets to describe the stream: its size and level, and in the VUI the range,
/// matrix, frame rate, chroma siting and pixel aspect ratio.
///
/// Drivers that write their own sets omit some of these properties (radeonsi of Mesa 22.3). libavcodec's
/// filter `h264_metadata` or `hevc_metadata` rewrites the sets, without the pictures, and only when the sets
/// change.
struct ParameterSetAmender: Sendable {
    let size: PictureSize
    let color: ColorEncoding
    let frameRate: FrameRate
    var chromaSiting = ChromaSiting.left
    /// Nil leaves the pixel aspect ratio to the encoder.
    var pixelAspect: PixelAspect?
    /// `level_idc` or `general_level_idc`; nil leaves the level to the encoder.
    var level: Int?

    enum Failure: Error, CustomStringConvertible {
        case filter(name: String, detail: String)

        var description: String {
            switch self {
            case .filter(let name, let detail): "\(name): \(detail)"
            }
        }
    }

    /// Returns corrected sets, or the unchanged sets if they are already right.
    func amend(_ sets: ParameterSets) throws -> ParameterSets {
        let statements = try sets.sequence.map { try Statement($0.nalUnit, codec: sets.codec) }
        // Changes only wrong elements, because each option may add further elements to the sets.
        var options = statements.allSatisfy(isRight) ? [] : usageOptions(sets.codec)
        if let level, statements.contains(where: { $0.level != level }) { options += [("level", "\(level)")] }
        options += statements.first { $0.size != size }.map(cropOptions) ?? []
        if options.isEmpty { return sets }
        return try filter(sets, options: options).withUnsafeBytes {
            try ParameterSets(annexB: $0.bytes, codec: sets.codec)
        }
    }

    /// The properties that a sequence parameter set declares.
    private struct Statement {
        let codedSize: (width: Int, height: Int)
        let size: PictureSize?
        let color: ColorEncoding?
        let frameRate: FrameRate?
        let level: Int
        /// Left by default (E.2.1).
        let chromaSiting: Int
        let pixelAspect: PixelAspect?

        init(_ nalUnit: [UInt8], codec: Codec) throws {
            let usability: (any VideoUsability)?
            switch codec {
            case .h264:
                let set = try H264.SequenceParameterSet(nalUnit.span.bytes)
                codedSize = (set.codedWidth, set.codedHeight)
                size = PictureSize(set.width, set.height)
                frameRate = set.frameRate
                level = set.level_idc
                usability = set.vui_parameters
            case .hevc:
                let set = try H265.SequenceParameterSet(nalUnit.span.bytes)
                codedSize = (set.pic_width_in_luma_samples, set.pic_height_in_luma_samples)
                size = PictureSize(set.width, set.height)
                frameRate = set.frameRate
                level = set.profile_tier_level.general_level_idc
                usability = set.vui_parameters
            }
            color = usability?.colour_description_present_flag == true ? usability?.colorEncoding : nil
            chromaSiting = usability?.chroma_sample_loc_type_top_field ?? 0
            pixelAspect = usability?.pixelAspect
        }
    }

    private func isRight(_ statement: Statement) -> Bool {
        guard let rate = statement.frameRate else { return false }
        return statement.color == color
            && statement.chromaSiting == Int(chromaSiting.rawValue)
            && statement.pixelAspect == pixelAspect ?? statement.pixelAspect
            && Double(rate.numerator) * Double(frameRate.denominator)
                == Double(rate.denominator) * Double(frameRate.numerator)
    }

    /// Corrects the crop: radeonsi of Mesa 22.3 crops H.265 to another size than the picture's.
    private func cropOptions(_ statement: Statement) -> [(String, String)] {
        [
            ("crop_left", "0"), ("crop_top", "0"),
            ("crop_right", "\(statement.codedSize.width - size.width)"),
            ("crop_bottom", "\(statement.codedSize.height - size.height)"),
        ]
    }

    private func filter(
        _ parameterSets: ParameterSets, options: [(String, String)]
    ) throws(Failure) -> [UInt8] {
        let name = "\(parameterSets.codec.rawValue)_metadata"
        func failed(_ detail: String) -> Failure { .filter(name: name, detail: detail) }
        let sets = parameterSets.annexB
        cffmpeg_keep_log()
        cffmpeg_clear_log()
        var context: UnsafeMutablePointer<AVBSFContext>?
        guard let filter = av_bsf_get_by_name(name) else {
            throw failed("this libavcodec was built without it")
        }
        var result = av_bsf_alloc(filter, &context)
        defer { av_bsf_free(&context) }
        guard result >= 0, let context else { throw failed(LibavMessage.reason(result)) }
        context.pointee.par_in.pointee.codec_id =
            parameterSets.codec == .h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC
        context.pointee.par_in.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        // av_bsf_free releases the parameters together with extradata.
        let padded = sets.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)
        guard let extradata = av_mallocz(padded) else { throw failed("out of memory") }
        sets.withUnsafeBytes {
            extradata.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(extradata), byteCount: sets.count)
        }
        context.pointee.par_in.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)
        context.pointee.par_in.pointee.extradata_size = Int32(sets.count)
        for (key, value) in options {
            guard av_opt_set(context.pointee.priv_data, key, value, 0) >= 0 else {
                throw failed("unknown option \(key)=\(value)")
            }
        }
        result = av_bsf_init(context)
        guard result >= 0 else { throw failed(LibavMessage.reason(result)) }
        let amended = context.pointee.par_out.pointee
        return Array(UnsafeBufferPointer(start: amended.extradata, count: Int(amended.extradata_size)))
    }

    /// The filter's options for the VUI.
    private func usageOptions(_ codec: Codec) -> [(String, String)] {
        // A frame lasts two ticks in H.264 (E.2.1, num_units_in_tick), one in H.265 (E.3.1).
        let ticks = codec == .h264 ? 2 : 1
        return [
            ("video_full_range_flag", color.range == .full ? "1" : "0"),
            ("matrix_coefficients", "\(color.matrix.rawValue)"),
            ("colour_primaries", "\(color.primaries)"),
            ("transfer_characteristics", "\(color.transfer)"),
            ("tick_rate", "\(ticks * frameRate.numerator)/\(frameRate.denominator)"),
        ] + (chromaSiting == .left ? [] : [("chroma_sample_loc_type", "\(chromaSiting.rawValue)")])
            + (pixelAspect.map { [("sample_aspect_ratio", "\($0.width)/\($0.height)")] } ?? [])
    }
}
