extension H264 {
    /// The beginning of a slice header (7.3.3): the elements that show the type of a frame and the
    /// beginning of a picture.
    public struct SliceHeader: Equatable, Sendable {
        /// The kind of prediction: `slice_type` modulo 5 (Table 7-6).
        public enum Kind: Sendable {
            /// Prediction from one other picture at a time.
            case p
            /// Prediction from one or two other pictures at a time.
            case b
            /// Prediction within the picture only.
            case i
            /// Like P, in a form that allows switching between streams.
            case sp
            /// Like I, in a form that allows switching between streams.
            case si
        }

        /// The address of the slice's first macroblock (of the first pair if fields are mixed by macroblock);
        /// 0 if a picture begins.
        public let first_mb_in_slice: Int
        /// 0 to 9; from 5 on, all slices of the picture have the same kind.
        public let slice_type: Int
        /// The picture parameter set in use.
        public let pic_parameter_set_id: Int
        /// The following elements of the header; `nil` without the sequence parameter set.
        public let picture: Picture?

        /// The kind of prediction.
        public var kind: Kind {
            switch slice_type % 5 {
            case 0: .p
            case 1: .b
            case 2: .i
            case 3: .sp
            default: .si
            }
        }

        /// The elements of a slice header that distinguish pictures. The sequence parameter set determines
        /// their sizes.
        public struct Picture: Equatable, Sendable {
            /// 0 to 2 if the three color planes are coded separately, else 0.
            public let colour_plane_id: Int
            /// Counts reference frames, modulo 2 to the power of `log2_max_frame_num_minus4` + 4.
            public let frame_num: Int
            /// Whether the slice belongs to a field.
            public let field_pic_flag: Bool
            /// Whether the slice belongs to a bottom field.
            public let bottom_field_flag: Bool
            /// Distinguishes an IDR picture from the adjacent IDR picture; `nil` in other pictures.
            public let idr_pic_id: Int?
            /// The picture order count's low bits; only with `pic_order_cnt_type` 0.
            public let pic_order_cnt_lsb: Int?
            /// The bottom field's order count less the top field's order count; 0 if absent, and without
            /// the picture parameter set.
            public let delta_pic_order_cnt_bottom: Int
            /// The differences to the expected order count, with `pic_order_cnt_type` 1; 0 if absent. The
            /// second difference is also 0 without the picture parameter set.
            public let delta_pic_order_cnt: SIMD2<Int>
            /// 0 in primary coded pictures, otherwise the number of the redundant picture; 0 without the
            /// picture parameter set.
            public let redundant_pic_cnt: Int
        }

        /// Reads the header of a slice NAL unit (types 1, 2 and 5), given without start code.
        ///
        /// Allocates nothing, and reads no more than the first few bytes.
        ///
        /// - Parameter sequenceParameterSet: the set that the picture parameter set refers to; without it,
        ///   reading ends after `pic_parameter_set_id`.
        /// - Parameter pictureParameterSet: the set that the slice refers to; without it, reading ends
        ///   before the elements whose presence the set determines.
        public init(
            _ nalUnit: RawSpan, sequenceParameterSet: SequenceParameterSet? = nil,
            pictureParameterSet: PictureParameterSet? = nil
        ) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (header, reader) = try RBSPReader.h264(bytes) {
                    $0.isSlice || $0 == .sliceDataPartitionA
                }
                return try SliceHeader(&reader, isIDR: header.nal_unit_type == .idrSlice) { _ in
                    (sequenceParameterSet, pictureParameterSet)
                }
            }
        }

        /// slice_header() (7.3.3) as far as `redundant_pic_cnt`.
        ///
        /// - Parameter parameterSets: returns the sets in force for a `pic_parameter_set_id`.
        init(
            _ reader: inout RBSPReader, isIDR: Bool,
            parameterSets: (Int) -> (SequenceParameterSet?, PictureParameterSet?)
        ) throws(SyntaxError) {
            first_mb_in_slice = try reader.ue("first_mb_in_slice")
            slice_type = try reader.ue("slice_type", in: 0...9)
            pic_parameter_set_id = try reader.ue("pic_parameter_set_id", in: 0...255)
            let (sequenceParameterSet, pictureParameterSet) = parameterSets(pic_parameter_set_id)
            if let sequenceParameterSet {
                picture = try Picture(&reader, isIDR: isIDR, sequenceParameterSet, pictureParameterSet)
            } else {
                picture = nil
            }
        }
    }
}

extension H264.SliceHeader.Picture {
    fileprivate init(
        _ reader: inout RBSPReader, isIDR: Bool, _ parameters: H264.SequenceParameterSet,
        _ pictureParameters: H264.PictureParameterSet?
    ) throws(SyntaxError) {
        colour_plane_id =
            parameters.separate_colour_plane_flag ? try reader.u(2, "colour_plane_id") : 0
        frame_num = try reader.u(parameters.log2_max_frame_num_minus4 + 4, "frame_num")
        field_pic_flag = parameters.frame_mbs_only_flag ? false : try reader.flag("field_pic_flag")
        bottom_field_flag = field_pic_flag ? try reader.flag("bottom_field_flag") : false
        idr_pic_id = isIDR ? try reader.ue("idr_pic_id", in: 0...65535) : nil
        // Only frames have the elements for the order of their second field.
        let hasBottomFieldOrder =
            pictureParameters?.bottom_field_pic_order_in_frame_present_flag == true && !field_pic_flag
        var bottom = 0
        if let low = parameters.log2_max_pic_order_cnt_lsb_minus4 {
            pic_order_cnt_lsb = try reader.u(low + 4, "pic_order_cnt_lsb")
            if hasBottomFieldOrder { bottom = try reader.se("delta_pic_order_cnt_bottom") }
        } else {
            pic_order_cnt_lsb = nil
        }
        delta_pic_order_cnt_bottom = bottom
        var deltas = SIMD2<Int>.zero
        if parameters.pictureOrderCountCycle?.delta_pic_order_always_zero_flag == false {
            deltas[0] = try reader.se("delta_pic_order_cnt", 0)
            if hasBottomFieldOrder { deltas[1] = try reader.se("delta_pic_order_cnt", 1) }
        }
        delta_pic_order_cnt = deltas
        let hasRedundantPictures = pictureParameters?.coding.redundant_pic_cnt_present_flag == true
        redundant_pic_cnt = hasRedundantPictures ? try reader.ue("redundant_pic_cnt", in: 0...127) : 0
    }
}
