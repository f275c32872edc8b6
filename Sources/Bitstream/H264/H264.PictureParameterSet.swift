extension H264 {
    /// A picture parameter set (7.3.2.2, 7.4.2.2), up to `redundant_pic_cnt_present_flag`.
    ///
    /// The elements after that need the sequence parameter set to be read and are not.
    public struct PictureParameterSet: Equatable, Sendable {
        /// The number under which slices refer to this set, 0 to 255.
        public let pic_parameter_set_id: Int
        /// The sequence parameter set in use, 0 to 31.
        public let seq_parameter_set_id: Int
        /// Whether the entropy mode is CABAC and not CAVLC.
        public let entropy_coding_mode_flag: Bool
        /// Whether slice headers have elements for the order of bottom fields.
        public let bottom_field_pic_order_in_frame_present_flag: Bool
        /// Number of slice groups (flexible macroblock ordering), less 1.
        public let num_slice_groups_minus1: Int
        /// The elements after the slice groups; `nil` where there is more than one slice group, whose maps are
        /// not read: no profile but Baseline and Extended has any.
        public let coding: Coding?

        /// The elements from `num_ref_idx_l0_default_active_minus1` on.
        public struct Coding: Equatable, Sendable {
            /// Entries of list 0 where a slice does not say, less 1.
            public let num_ref_idx_l0_default_active_minus1: Int
            /// Entries of list 1 where a slice does not say, less 1.
            public let num_ref_idx_l1_default_active_minus1: Int
            /// Whether P slices use explicit weights.
            public let weighted_pred_flag: Bool
            /// Weights of B slices: 0 default, 1 explicit, 2 implicit.
            public let weighted_bipred_idc: Int
            /// The quantiser that slices start from, less 26.
            public let pic_init_qp_minus26: Int
            /// The same for SP and SI slices.
            public let pic_init_qs_minus26: Int
            /// Offset of the quantiser of Cb, and of Cr where nothing else is said.
            public let chroma_qp_index_offset: Int
            /// Whether slice headers control the deblocking filter.
            public let deblocking_filter_control_present_flag: Bool
            /// Whether intra macroblocks use no samples of inter macroblocks.
            public let constrained_intra_pred_flag: Bool
            /// Whether slice headers have `redundant_pic_cnt`.
            public let redundant_pic_cnt_present_flag: Bool
        }

        /// Reads a picture parameter set NAL unit (type 8), given without start code.
        public init(_ nalUnit: RawSpan) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (_, reader) = try RBSPReader.h264(bytes) { $0 == .pictureParameterSet }
                return try PictureParameterSet(&reader)
            }
        }

        private init(_ reader: inout RBSPReader) throws(SyntaxError) {
            pic_parameter_set_id = try reader.ue("pic_parameter_set_id", in: 0...255)
            seq_parameter_set_id = try reader.ue("seq_parameter_set_id", in: 0...31)
            entropy_coding_mode_flag = try reader.flag("entropy_coding_mode_flag")
            bottom_field_pic_order_in_frame_present_flag = try reader.flag(
                "bottom_field_pic_order_in_frame_present_flag")
            num_slice_groups_minus1 = try reader.ue("num_slice_groups_minus1", in: 0...7)
            coding = num_slice_groups_minus1 == 0 ? try Coding(&reader) : nil
        }
    }
}

extension H264.PictureParameterSet.Coding {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        num_ref_idx_l0_default_active_minus1 = try reader.ue(
            "num_ref_idx_l0_default_active_minus1", in: 0...31)
        num_ref_idx_l1_default_active_minus1 = try reader.ue(
            "num_ref_idx_l1_default_active_minus1", in: 0...31)
        weighted_pred_flag = try reader.flag("weighted_pred_flag")
        weighted_bipred_idc = try reader.u(2, "weighted_bipred_idc")
        // The lower bound sinks by 6 for each bit above 8, of which there are at most 6.
        pic_init_qp_minus26 = try reader.se("pic_init_qp_minus26", in: -62...25)
        pic_init_qs_minus26 = try reader.se("pic_init_qs_minus26", in: -26...25)
        chroma_qp_index_offset = try reader.se("chroma_qp_index_offset", in: -12...12)
        deblocking_filter_control_present_flag = try reader.flag("deblocking_filter_control_present_flag")
        constrained_intra_pred_flag = try reader.flag("constrained_intra_pred_flag")
        redundant_pic_cnt_present_flag = try reader.flag("redundant_pic_cnt_present_flag")
    }
}
