/// What the first elements of a slice state about its position.
struct SliceStart {
    /// Whether the picture begins here.
    let isFirst: Bool
    let pictureParameterSetID: Int

    init(_ nalUnit: RawSpan, codec: Codec) throws(SyntaxError) {
        switch codec {
        case .h264:
            let slice = try H264.SliceHeader(nalUnit)
            isFirst = slice.first_mb_in_slice == 0
            pictureParameterSetID = slice.pic_parameter_set_id
        case .hevc:
            let slice = try H265.SliceHeader(nalUnit)
            isFirst = slice.first_slice_segment_in_pic_flag
            pictureParameterSetID = slice.slice_pic_parameter_set_id
        }
    }
}
