/// How far pictures may move between decoding order and output order.
public struct PictureReordering: Sendable, Equatable {
    /// How many pictures precede another in decoding order and follow it in output order, as the stream
    /// declares: 0 to 16; `nil` if it does not, which H.264 allows.
    public let declaredDepth: Int?
    /// The largest number possible, whatever the stream declares: 0 if its syntax allows only one order.
    public let maximumDepth: Int
    /// Whether frames may be coded as two fields, each its own access unit.
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
