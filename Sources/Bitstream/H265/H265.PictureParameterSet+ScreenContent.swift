extension H265.PictureParameterSet {
    /// pps_scc_extension() (7.3.2.3.3, 7.4.3.3.3).
    public struct ScreenContentExtension: Equatable, Sendable {
        /// Whether slices may be predicted from their own picture.
        public let pps_curr_pic_ref_enabled_flag: Bool
        /// The transform of colours in residuals; `nil` if there is none.
        public let colourTransform: ColourTransform?
        /// The entries that palette predictors begin with, by component; `nil` if those of the sequence
        /// parameter set hold, empty if there are none.
        public let pps_palette_predictor_initializer: [[Int]]?

        /// The elements after `residual_adaptive_colour_transform_enabled_flag`.
        public struct ColourTransform: Equatable, Sendable {
            /// Whether slice headers add to the offsets.
            public let pps_slice_act_qp_offsets_present_flag: Bool
            /// Offset of luma's quantiser, plus 5.
            public let pps_act_y_qp_offset_plus5: Int
            /// Offset of Cb's quantiser, plus 5.
            public let pps_act_cb_qp_offset_plus5: Int
            /// Offset of Cr's quantiser, plus 3.
            public let pps_act_cr_qp_offset_plus3: Int
        }
    }
}

extension H265.PictureParameterSet.ScreenContentExtension {
    init(_ reader: inout RBSPReader) throws(SyntaxError) {
        pps_curr_pic_ref_enabled_flag = try reader.flag("pps_curr_pic_ref_enabled_flag")
        colourTransform =
            try reader.flag("residual_adaptive_colour_transform_enabled_flag")
            ? try ColourTransform(&reader) : nil
        pps_palette_predictor_initializer =
            try reader.flag("pps_palette_predictor_initializers_present_flag")
            ? try Self.paletteEntries(&reader) : nil
    }

    private static func paletteEntries(_ reader: inout RBSPReader) throws(SyntaxError) -> [[Int]] {
        let count = try reader.ue("pps_num_palette_predictor_initializers", in: 0...128)
        guard count > 0 else { return [] }
        let isMonochrome = try reader.flag("monochrome_palette_flag")
        var bitDepths = [try reader.ue("luma_bit_depth_entry_minus8", in: 0...8) + 8]
        if !isMonochrome {
            let bitDepth = try reader.ue("chroma_bit_depth_entry_minus8", in: 0...8) + 8
            bitDepths += [bitDepth, bitDepth]
        }
        return try reader.paletteEntries(count, bitDepths: bitDepths, "pps_palette_predictor_initializer")
    }
}

extension H265.PictureParameterSet.ScreenContentExtension.ColourTransform {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        pps_slice_act_qp_offsets_present_flag = try reader.flag("pps_slice_act_qp_offsets_present_flag")
        pps_act_y_qp_offset_plus5 = try reader.se("pps_act_y_qp_offset_plus5", in: -7...17)
        pps_act_cb_qp_offset_plus5 = try reader.se("pps_act_cb_qp_offset_plus5", in: -7...17)
        pps_act_cr_qp_offset_plus3 = try reader.se("pps_act_cr_qp_offset_plus3", in: -9...15)
    }
}
