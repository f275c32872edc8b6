extension H265.SequenceParameterSet {
    /// sps_scc_extension() (7.3.2.2.3, 7.4.3.2.3).
    public struct ScreenContentExtension: Equatable, Sendable {
        /// Whether pictures may be predicted from their own decoded parts.
        public let sps_curr_pic_ref_enabled_flag: Bool
        /// The palette mode; `nil` if it is off.
        public let palette: Palette?
        /// The resolution of motion vectors: 0 quarter samples, 1 whole samples, 2 specified by each slice.
        public let motion_vector_resolution_control_idc: Int
        /// Whether edges of intra blocks may be left unfiltered.
        public let intra_boundary_filtering_disabled_flag: Bool

        /// The elements after `palette_mode_enabled_flag`.
        public struct Palette: Equatable, Sendable {
            /// The most entries of a palette.
            public let palette_max_size: Int
            /// The number of further entries that a predictor may have.
            public let delta_palette_max_predictor_size: Int
            /// The initial entries of predictors, by component; may be empty.
            public let sps_palette_predictor_initializer: [[Int]]
        }
    }
}

extension H265.SequenceParameterSet.ScreenContentExtension {
    /// - Parameter bitDepths: bits of a sample, by component.
    init(_ reader: inout RBSPReader, bitDepths: [Int]) throws(SyntaxError) {
        sps_curr_pic_ref_enabled_flag = try reader.flag("sps_curr_pic_ref_enabled_flag")
        palette =
            try reader.flag("palette_mode_enabled_flag") ? try Palette(&reader, bitDepths: bitDepths) : nil
        motion_vector_resolution_control_idc = try reader.u(
            2, "motion_vector_resolution_control_idc", in: 0...2)
        intra_boundary_filtering_disabled_flag = try reader.flag("intra_boundary_filtering_disabled_flag")
    }
}

extension H265.SequenceParameterSet.ScreenContentExtension.Palette {
    fileprivate init(_ reader: inout RBSPReader, bitDepths: [Int]) throws(SyntaxError) {
        palette_max_size = try reader.ue("palette_max_size", in: 0...64)
        delta_palette_max_predictor_size = try reader.ue("delta_palette_max_predictor_size", in: 0...128)
        guard try reader.flag("sps_palette_predictor_initializers_present_flag") else {
            sps_palette_predictor_initializer = []
            return
        }
        let count = try reader.ue("sps_num_palette_predictor_initializers_minus1", in: 0...127) + 1
        sps_palette_predictor_initializer = try reader.paletteEntries(
            count, bitDepths: bitDepths, "sps_palette_predictor_initializer")
    }
}

extension RBSPReader {
    /// The entries of a palette predictor, by component.
    mutating func paletteEntries(
        _ count: Int, bitDepths: [Int], _ element: String
    ) throws(SyntaxError) -> [[Int]] {
        var components: [[Int]] = []
        for (component, bitDepth) in bitDepths.enumerated() {
            var entries: [Int] = []
            for i in 0..<count { entries.append(try u(bitDepth, element, component, i)) }
            components.append(entries)
        }
        return components
    }
}

extension H265.PictureParameterSet {
    /// pps_scc_extension() (7.3.2.3.3, 7.4.3.3.3).
    public struct ScreenContentExtension: Equatable, Sendable {
        /// Whether slices may be predicted from their own picture.
        public let pps_curr_pic_ref_enabled_flag: Bool
        /// The color transform of residuals; `nil` if it is off.
        public let colourTransform: ColourTransform?
        /// The initial entries of palette predictors, by component, may be empty; `nil` for the entries of
        /// the sequence parameter set.
        public let pps_palette_predictor_initializer: [[Int]]?

        /// The elements after `residual_adaptive_colour_transform_enabled_flag`.
        public struct ColourTransform: Equatable, Sendable {
            /// Whether slice headers add to the offsets.
            public let pps_slice_act_qp_offsets_present_flag: Bool
            /// Offset of luma's quantizer, plus 5.
            public let pps_act_y_qp_offset_plus5: Int
            /// Offset of Cb's quantizer, plus 5.
            public let pps_act_cb_qp_offset_plus5: Int
            /// Offset of Cr's quantizer, plus 3.
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
