import Bitstream
import CFFmpeg
import Capture

/// Makes an encoder's parameter sets say what the stream is: range, matrix and frame rate in the VUI.
///
/// Drivers that write their own sets leave these out (radeonsi of Mesa 22.3 does). The rewriting is
/// libavcodec's `h264_metadata` or `hevc_metadata` filter, applied to the sets alone and only when they change.
struct ParameterSetAmender: Sendable {
    let color: ColorEncoding
    let frameRate: FrameRate

    enum Failure: Error, CustomStringConvertible {
        case filter(name: String, detail: String)

        var description: String {
            switch self {
            case .filter(let name, let detail): "\(name): \(detail)"
            }
        }
    }

    /// The sets themselves where they are right already.
    func amend(_ sets: ParameterSets) throws -> ParameterSets {
        if try areRight(sets) { return sets }
        return try filter(sets).withUnsafeBytes { try ParameterSets(annexB: $0.bytes, codec: sets.codec) }
    }

    private func areRight(_ sets: ParameterSets) throws -> Bool {
        guard sets.codec == .h264 else { return false }
        return try sets.sequence.allSatisfy { element in
            try element.nalUnit.withUnsafeBytes { try isRight(H264.SequenceParameterSet($0.bytes)) }
        }
    }

    private func isRight(_ set: H264.SequenceParameterSet) -> Bool {
        guard let vui = set.vui_parameters, let timing = vui.timing, vui.colour_description_present_flag
        else {
            return false
        }
        return vui.video_full_range_flag == (color.range == .full)
            && vui.matrix_coefficients == Int(color.matrix.rawValue)
            && vui.colour_primaries == Int(color.primaries)
            && vui.transfer_characteristics == Int(color.transfer)
            // A frame is two ticks (E.2.1, num_units_in_tick).
            && Double(timing.time_scale) * Double(frameRate.denominator)
                == 2 * Double(timing.num_units_in_tick) * Double(frameRate.numerator)
    }

    private func filter(_ parameterSets: ParameterSets) throws(Failure) -> [UInt8] {
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
        guard result >= 0, let context else { throw failed(CodecSession.reason(result)) }
        context.pointee.par_in.pointee.codec_id =
            parameterSets.codec == .h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC
        context.pointee.par_in.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        // av_bsf_free releases extradata with the parameters.
        let padded = sets.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)
        guard let extradata = av_mallocz(padded) else { throw failed("out of memory") }
        sets.withUnsafeBytes {
            extradata.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(extradata), byteCount: sets.count)
        }
        context.pointee.par_in.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)
        context.pointee.par_in.pointee.extradata_size = Int32(sets.count)
        for (key, value) in options(parameterSets.codec) {
            guard av_opt_set(context.pointee.priv_data, key, value, 0) >= 0 else {
                throw failed("it does not know \(key)=\(value)")
            }
        }
        result = av_bsf_init(context)
        guard result >= 0 else { throw failed(CodecSession.reason(result)) }
        let amended = context.pointee.par_out.pointee
        return Array(UnsafeBufferPointer(start: amended.extradata, count: Int(amended.extradata_size)))
    }

    private func options(_ codec: Codec) -> [(String, String)] {
        // A frame is two ticks in H.264 (E.2.1, num_units_in_tick), one in H.265 (E.3.1).
        let ticks = codec == .h264 ? 2 : 1
        return [
            ("video_full_range_flag", color.range == .full ? "1" : "0"),
            ("matrix_coefficients", "\(color.matrix.rawValue)"),
            ("colour_primaries", "\(color.primaries)"),
            ("transfer_characteristics", "\(color.transfer)"),
            ("tick_rate", "\(ticks * frameRate.numerator)/\(frameRate.denominator)"),
        ]
    }
}
