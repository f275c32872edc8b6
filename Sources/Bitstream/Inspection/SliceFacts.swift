/// What the inspection needs from a slice header of either codec.
struct SliceFacts {
    /// `I`, `P`, `B`, `SP` or `SI`; `nil` if the header does not say.
    let type: String?
    let kind: PictureKind
    /// Whether the slice is the first of its picture.
    let isFirst: Bool
    let isIDR: Bool
    /// Whether decoding can begin with the picture, by the type of its units.
    let isRandomAccess: Bool
    let isReference: Bool
    var frame_num: Int?
    var maxFrameNum = 0
    /// Whether gaps in `frame_num` are not losses.
    var allowsFrameNumberGaps = true
    var pic_order_cnt_lsb: Int?
}

extension SliceFacts {
    /// From an H.264 slice (7.3.3).
    init(
        _ slice: H264.SliceHeader, _ header: H264.NALUnitHeader, _ parameters: H264.SequenceParameterSet?
    ) {
        (type, kind) =
            switch slice.kind {
            case .i: ("I", .intra)
            case .si: ("SI", .intra)
            case .p: ("P", .predicted)
            case .sp: ("SP", .predicted)
            case .b: ("B", .bidirectional)
            }
        isFirst = slice.first_mb_in_slice == 0
        isIDR = header.nal_unit_type == .idrSlice
        isRandomAccess = isIDR
        isReference = header.nal_ref_idc != 0
        frame_num = slice.picture?.frame_num
        guard let parameters, let picture = slice.picture else { return }
        maxFrameNum = 1 << (parameters.log2_max_frame_num_minus4 + 4)
        allowsFrameNumberGaps = parameters.gaps_in_frame_num_value_allowed_flag
        pic_order_cnt_lsb = picture.pic_order_cnt_lsb
    }
}

extension SliceFacts {
    /// From an H.265 slice segment (7.3.6.1).
    init(_ segment: H265.SliceHeader, _ header: H265.NALUnitHeader) {
        (type, kind) =
            switch segment.slice?.kind {
            case .i: ("I", .intra)
            case .p: ("P", .predicted)
            case .b: ("B", .bidirectional)
            case nil: (nil, .unknown)
            }
        let unitType = header.nal_unit_type
        isFirst = segment.first_slice_segment_in_pic_flag
        isIDR = unitType.isIDR
        isRandomAccess = unitType.isIntraRandomAccessPoint
        isReference = !unitType.isSubLayerNonReference
        pic_order_cnt_lsb = segment.slice?.slice_pic_order_cnt_lsb
    }
}

extension SliceFacts {
    /// Reads a slice of either codec, and the picture's format from its sequence parameter set, if that is
    /// known.
    static func read(
        _ nalUnit: RawSpan, _ header: NALUnitHeader, _ sets: StreamParameterSets
    ) throws(SyntaxError) -> (SliceFacts, StreamFormat?) {
        switch header {
        case .h264(let header):
            let start = try H264.SliceHeader(nalUnit)
            let (sequence, picture) = sets.h264.inForce(pic_parameter_set_id: start.pic_parameter_set_id)
            let slice = try H264.SliceHeader(
                nalUnit, sequenceParameterSet: sequence, pictureParameterSet: picture)
            return (SliceFacts(slice, header, sequence), sequence.map { StreamFormat($0) })
        case .hevc(let header):
            let start = try H265.SliceHeader(nalUnit)
            let (sequence, picture) = sets.hevc.inForce(
                slice_pic_parameter_set_id: start.slice_pic_parameter_set_id)
            let segment = try H265.SliceHeader(
                nalUnit, sequenceParameterSet: sequence, pictureParameterSet: picture)
            return (SliceFacts(segment, header), sequence.map { StreamFormat($0) })
        }
    }
}
