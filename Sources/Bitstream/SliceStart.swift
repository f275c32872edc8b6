/// What the first elements of a slice say of its place.
struct SliceStart {
    /// Whether the picture begins here.
    let isFirst: Bool
    let pictureParameterSetID: Int

    init(_ nalUnit: RawSpan, _ header: NALUnitHeader) throws(SyntaxError) {
        switch header {
        case .h264:
            let slice = try H264.SliceHeader(nalUnit)
            isFirst = slice.first_mb_in_slice == 0
            pictureParameterSetID = slice.pic_parameter_set_id
        case .hevc(let header):
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                try SliceStart(
                    RBSPReader(bytes, headerLength: H265.NALUnitHeader.byteCount), header.nal_unit_type)
            }
        }
    }

    /// slice_segment_header() (H.265, 7.3.6.1).
    private init(_ start: RBSPReader, _ type: H265.NALUnitType) throws(SyntaxError) {
        var reader = start
        isFirst = try reader.flag("first_slice_segment_in_pic_flag")
        if type.isIntraRandomAccessPoint { _ = try reader.flag("no_output_of_prior_pics_flag") }
        pictureParameterSetID = try reader.ue("slice_pic_parameter_set_id", in: 0...63)
    }
}
