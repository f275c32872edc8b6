/// Finds pictures that are missing from an H.264 stream by `frame_num` (7.4.3). H.265 does not number
/// pictures: only its decoder notices a missing reference.
///
/// Use a detector, which is a value, in one thread at a time.
public struct FrameNumberGapDetector: Sendable {
    private var tracker = FrameNumberTracker()

    /// Creates a detector at the start of a stream.
    public init() {}

    /// Takes the stream's next NAL unit, given without start code. Only slices are examined.
    ///
    /// - Parameter parameterSets: the sets in force for the unit.
    /// - Returns: whether reference pictures are missing before the unit; false for an unreadable slice.
    public mutating func followsGap(_ nalUnit: RawSpan, parameterSets: StreamParameterSets) -> Bool {
        guard case .h264(let header)? = NALUnitHeader(of: nalUnit, codec: parameterSets.codec),
            header.nal_unit_type.isSlice, let start = try? H264.SliceHeader(nalUnit)
        else { return false }
        let (sequence, _) = parameterSets.h264.inForce(pic_parameter_set_id: start.pic_parameter_set_id)
        guard let sequence, !sequence.gaps_in_frame_num_value_allowed_flag,
            let slice = try? H264.SliceHeader(nalUnit, sequenceParameterSet: sequence),
            let frame_num = slice.picture?.frame_num
        else { return false }
        return tracker.add(
            frame_num, modulus: 1 << (sequence.log2_max_frame_num_minus4 + 4),
            isIDR: header.nal_unit_type == .idrSlice, isReference: header.nal_ref_idc != 0)
    }
}

/// Finds gaps in H.264's `frame_num` (7.4.3): reference pictures that are missing from the stream.
struct FrameNumberTracker: Sendable {
    private var previous: Int?

    /// - Returns: whether pictures are missing before this one.
    mutating func add(_ frame_num: Int, modulus: Int, isIDR: Bool, isReference: Bool) -> Bool {
        defer { if isReference || isIDR { previous = frame_num } }
        guard !isIDR, let former = previous else { return false }
        if frame_num == former || frame_num == (former + 1) % modulus { return false }
        previous = (frame_num + modulus - 1) % modulus
        // After a memory management operation the numbers may restart at 0 or 1 (8.2.1). If they would have
        // wrapped around soon anyway, pictures are missing.
        return frame_num > 1 || (frame_num - former + modulus) % modulus <= modulus / 2
    }
}
