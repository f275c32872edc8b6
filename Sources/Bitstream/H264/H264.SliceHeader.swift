extension H264 {
    /// The beginning of a slice header (7.3.3): what tells a frame's type and where pictures begin.
    public struct SliceHeader: Equatable, Sendable {
        /// What a slice is predicted from: `slice_type` modulo 5 (Table 7-6).
        public enum Kind: Sendable {
            /// From other pictures, one at a time.
            case p
            /// From other pictures, one or two at a time.
            case b
            /// From nothing but itself.
            case i
            /// As P, in a form that allows switching between streams.
            case sp
            /// As I, in a form that allows switching between streams.
            case si
        }

        /// The address of the slice's first macroblock (of the first pair where fields are mixed by
        /// macroblock); 0 where a picture begins.
        public let first_mb_in_slice: Int
        /// 0 to 9; from 5 on, all slices of the picture are of the same kind.
        public let slice_type: Int
        /// The picture parameter set in use.
        public let pic_parameter_set_id: Int
        /// What follows in the header; `nil` where it was read without the sequence parameter set.
        public let picture: Picture?

        /// What the slice is predicted from.
        public var kind: Kind {
            switch slice_type % 5 {
            case 0: .p
            case 1: .b
            case 2: .i
            case 3: .sp
            default: .si
            }
        }

        /// The elements of a slice header that tell pictures apart, whose size the sequence parameter set
        /// gives.
        public struct Picture: Equatable, Sendable {
            /// 0 to 2 where the three colour planes are coded apart, else 0.
            public let colour_plane_id: Int
            /// Counts reference frames, modulo 2 to the power of `log2_max_frame_num_minus4` + 4.
            public let frame_num: Int
            /// Whether the slice belongs to a field.
            public let field_pic_flag: Bool
            /// Whether that field is the bottom one.
            public let bottom_field_flag: Bool
            /// Tells an IDR picture from the IDR picture next to it; `nil` in other pictures.
            public let idr_pic_id: Int?
        }

        /// Reads the header of a slice NAL unit (types 1, 2 and 5), given without start code.
        ///
        /// Allocates nothing, and reads no more than the first few bytes.
        ///
        /// - Parameter sequenceParameterSet: the one that the picture parameter set refers to. Without it
        ///   reading ends after `pic_parameter_set_id`.
        public init(
            _ nalUnit: RawSpan, sequenceParameterSet: SequenceParameterSet? = nil
        ) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                let (header, reader) = try RBSPReader.h264(bytes) {
                    $0.isSlice || $0 == .sliceDataPartitionA
                }
                return try SliceHeader(reader, header: header, sequenceParameterSet: sequenceParameterSet)
            }
        }

        private init(
            _ start: RBSPReader, header: NALUnitHeader, sequenceParameterSet: SequenceParameterSet?
        ) throws(SyntaxError) {
            var reader = start
            first_mb_in_slice = try reader.ue("first_mb_in_slice")
            slice_type = try reader.ue("slice_type", in: 0...9)
            pic_parameter_set_id = try reader.ue("pic_parameter_set_id", in: 0...255)
            if let sequenceParameterSet {
                picture = try Picture(
                    &reader, isIDR: header.nal_unit_type == .idrSlice, sequenceParameterSet)
            } else {
                picture = nil
            }
        }
    }
}

extension H264.SliceHeader.Picture {
    fileprivate init(
        _ reader: inout RBSPReader, isIDR: Bool, _ parameters: H264.SequenceParameterSet
    ) throws(SyntaxError) {
        colour_plane_id =
            parameters.separate_colour_plane_flag ? try reader.u(2, "colour_plane_id") : 0
        frame_num = try reader.u(parameters.log2_max_frame_num_minus4 + 4, "frame_num")
        field_pic_flag = parameters.frame_mbs_only_flag ? false : try reader.flag("field_pic_flag")
        bottom_field_flag = field_pic_flag ? try reader.flag("bottom_field_flag") : false
        idr_pic_id = isIDR ? try reader.ue("idr_pic_id", in: 0...65535) : nil
    }
}
