/// Computes the picture order counts by which decoders sort pictures into output order (H.264, 8.2.1;
/// H.265, 8.3.1).
///
/// Counts are comparable within one coded video sequence, which begins with an IDR picture or, in H.265,
/// another picture that starts decoding. `memory_management_control_operation` 5, which comes late in the
/// slice headers of H.264, is ignored. Any values are safe.
public struct PictureOrderCounter: Sendable {
    /// A picture's place in output order.
    public struct Order: Equatable, Sendable {
        /// The picture order count; for a frame, the lower one of its fields.
        public let count: Int
        /// Whether the picture begins a coded video sequence: no earlier picture is output after it.
        public let beginsSequence: Bool

        /// Creates a place in output order.
        public init(count: Int, beginsSequence: Bool) {
            (self.count, self.beginsSequence) = (count, beginsSequence)
        }
    }

    /// The high and low bits of the latest count that later counts are based on.
    private var previous = (high: 0, low: 0)
    /// `prevFrameNum` and `prevFrameNumOffset` of H.264.
    private var previousFrame = (number: 0, offset: 0)
    private var isAtStart = true

    /// Creates a counter at the start of a stream.
    public init() {}

    /// Returns the order of a picture, from its first slice.
    ///
    /// - Parameters:
    ///   - nalUnit: the slice, without start code.
    ///   - parameterSets: the parameter sets in force.
    /// - Returns: `nil` for an unreadable slice or missing parameter sets.
    public mutating func next(_ nalUnit: RawSpan, _ parameterSets: StreamParameterSets) -> Order? {
        switch NALUnitHeader(of: nalUnit, codec: parameterSets.codec) {
        case .h264(let header)?: next(nalUnit, header, parameterSets.h264)
        case .hevc(let header)?: next(nalUnit, header, parameterSets.hevc)
        case nil: nil
        }
    }

    /// Returns the count that has these low bits and is nearest to the previous picture's.
    private func count(low: Int, bits: Int) -> (high: Int, low: Int) {
        let modulus = 1 << bits
        var high = previous.high
        if low < previous.low, previous.low - low >= modulus / 2 { high &+= modulus }
        if low > previous.low, low - previous.low > modulus / 2 { high &-= modulus }
        return (high, low)
    }
}

extension PictureOrderCounter {
    /// 8.3.1.
    private mutating func next(
        _ nalUnit: RawSpan, _ header: H265.NALUnitHeader, _ sets: H265.ParameterSetsByID
    ) -> Order? {
        let type = header.nal_unit_type
        guard let id = try? H265.SliceHeader(nalUnit).slice_pic_parameter_set_id,
            case let (sequence?, picture?) = sets.inForce(slice_pic_parameter_set_id: id),
            let slice = try? H265.SliceHeader(
                nalUnit, sequenceParameterSet: sequence, pictureParameterSet: picture
            ).slice
        else { return nil }
        // NoRaslOutputFlag: IDR and BLA pictures, and a CRA picture that the stream begins with.
        let beginsSequence = type.isIntraRandomAccessPoint && (type != .craNUT || isAtStart)
        isAtStart = false
        if beginsSequence { previous = (0, 0) }
        let bits = sequence.log2_max_pic_order_cnt_lsb_minus4 + 4
        let low = slice.slice_pic_order_cnt_lsb
        let current = beginsSequence ? (high: 0, low: low) : count(low: low, bits: bits)
        let isLeading = (6...9).contains(type.rawValue)
        if header.nuh_temporal_id_plus1 == 1, !isLeading, !type.isSubLayerNonReference { previous = current }
        return Order(count: current.high &+ current.low, beginsSequence: beginsSequence)
    }
}

extension PictureOrderCounter {
    /// 8.2.1.
    private mutating func next(
        _ nalUnit: RawSpan, _ header: H264.NALUnitHeader, _ sets: H264.ParameterSetsByID
    ) -> Order? {
        guard let id = try? H264.SliceHeader(nalUnit).pic_parameter_set_id,
            case let (sequence?, parameters?) = sets.inForce(pic_parameter_set_id: id),
            let picture = try? H264.SliceHeader(
                nalUnit, sequenceParameterSet: sequence, pictureParameterSet: parameters
            ).picture
        else { return nil }
        let isIDR = header.nal_unit_type == .idrSlice
        let isReference = header.nal_ref_idc != 0
        if isIDR {
            previous = (0, 0)
            previousFrame = (picture.frame_num, 0)
        }
        let count =
            if let low = picture.pic_order_cnt_lsb, let bits = sequence.log2_max_pic_order_cnt_lsb_minus4 {
                countOfType0(picture, low: low, bits: bits + 4, isReference: isReference)
            } else {
                countOfType1Or2(picture, sequence, isReference: isReference)
            }
        return Order(count: count, beginsSequence: isIDR)
    }

    /// 8.2.1.1: low bits in the slice header.
    private mutating func countOfType0(
        _ picture: H264.SliceHeader.Picture, low: Int, bits: Int, isReference: Bool
    ) -> Int {
        let current = count(low: low, bits: bits)
        if isReference { previous = current }
        return current.high &+ current.low &+ min(0, picture.delta_pic_order_cnt_bottom)
    }

    /// 8.2.1.2 and 8.2.1.3: from `frame_num`, with or without a cycle of offsets.
    private mutating func countOfType1Or2(
        _ picture: H264.SliceHeader.Picture, _ sequence: H264.SequenceParameterSet, isReference: Bool
    ) -> Int {
        var offset = previousFrame.offset
        if previousFrame.number > picture.frame_num {
            offset &+= 1 << (sequence.log2_max_frame_num_minus4 + 4)
        }
        previousFrame = (picture.frame_num, offset)
        let number = offset &+ picture.frame_num
        guard let cycle = sequence.pictureOrderCountCycle else {
            return 2 &* number &- (isReference ? 0 : 1)
        }
        var expected = cycle.expectedCount(of: number, isReference: isReference)
        if picture.bottom_field_flag { expected &+= cycle.offset_for_top_to_bottom_field }
        let first = expected &+ picture.delta_pic_order_cnt[0]
        guard !picture.field_pic_flag else { return first }
        return min(
            first, first &+ cycle.offset_for_top_to_bottom_field &+ picture.delta_pic_order_cnt[1])
    }
}

extension H264.SequenceParameterSet.PictureOrderCountCycle {
    /// `expectedPicOrderCnt` (equations 8-6 to 8-9).
    fileprivate func expectedCount(of frameNumber: Int, isReference: Bool) -> Int {
        let length = offset_for_ref_frame.count
        let number = length == 0 ? 0 : frameNumber - (isReference || frameNumber == 0 ? 0 : 1)
        var expected = isReference ? 0 : offset_for_non_ref_pic
        guard number > 0 else { return expected }
        let (cycles, place) = (number - 1).quotientAndRemainder(dividingBy: length)
        expected &+= cycles &* offset_for_ref_frame.reduce(0, &+)
        return offset_for_ref_frame[...place].reduce(expected, &+)
    }
}

// MARK: - Reordering

/// The distance that pictures may move between decoding order and output order.
public struct PictureReordering: Sendable, Equatable {
    /// The declared number of pictures that precede a picture in decoding order and follow it in output
    /// order: 0 to 16; `nil` without a declaration, which is optional in H.264.
    public let declaredDepth: Int?
    /// The largest possible number of such pictures, whatever the stream declares: 0 if its syntax allows
    /// only one order.
    public let maximumDepth: Int
    /// Whether frames may be coded as two fields, each with its own access unit.
    public let hasFields: Bool

    /// The most frames that a decoder holds, at any level (H.264, A.3.1; H.265, A.4.2).
    public static let limit = 16
}

extension PictureReordering {
    /// H.264, E.2.1 and A.3.1.
    init(_ set: H264.SequenceParameterSet) {
        hasFields = !set.frame_mbs_only_flag
        guard let restriction = set.vui_parameters?.bitstream_restriction else {
            let inferred = min(set.maxNumReorderFrames, Self.limit)
            // 66 is Baseline: without B slices, encoders do not reorder.
            declaredDepth = inferred == 0 || set.profile_idc == 66 ? 0 : nil
            maximumDepth = inferred
            return
        }
        let declared = min(restriction.max_num_reorder_frames, Self.limit)
        let isFixed = set.pic_order_cnt_type == 2
        declaredDepth = declared
        maximumDepth = isFixed ? declared : max(declared, min(set.maxDecodedPictureBufferFrames, Self.limit))
    }

    /// H.265, 7.4.3.2.1.
    init(_ set: H265.SequenceParameterSet) {
        let declared = min(set.maxNumReorderPictures, Self.limit)
        (declaredDepth, maximumDepth, hasFields) = (declared, declared, false)
    }
}
