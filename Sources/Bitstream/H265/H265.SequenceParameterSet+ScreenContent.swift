extension H265.SequenceParameterSet {
    /// sps_scc_extension() (7.3.2.2.3, 7.4.3.2.3).
    public struct ScreenContentExtension: Equatable, Sendable {
        /// Whether pictures may be predicted from their own decoded parts.
        public let sps_curr_pic_ref_enabled_flag: Bool
        /// The palette mode; `nil` if there is none.
        public let palette: Palette?
        /// How motion vectors are resolved: 0 in quarter samples, 1 in whole ones, 2 as each slice specifies.
        public let motion_vector_resolution_control_idc: Int
        /// Whether edges of intra blocks may be left unfiltered.
        public let intra_boundary_filtering_disabled_flag: Bool

        /// The elements after `palette_mode_enabled_flag`.
        public struct Palette: Equatable, Sendable {
            /// The most entries of a palette.
            public let palette_max_size: Int
            /// How many more entries a predictor may have.
            public let delta_palette_max_predictor_size: Int
            /// The entries that predictors begin with, by component; empty if there are none.
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
