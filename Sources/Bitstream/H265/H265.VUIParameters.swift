extension H265 {
    /// Video usability information (Annex E): colour, timing and buffering, none of it needed for decoding.
    ///
    /// Elements that are absent from the stream are `nil`, or have the value that E.3.1 infers.
    public struct VUIParameters: Equatable, Sendable {
        /// Shape of a sample: 0 unspecified, 1 square, 2 to 16 by Table E.1, 255 for `sar_width` to
        /// `sar_height`.
        public private(set) var aspect_ratio_idc = 0
        /// The horizontal part of a ratio that Table E.1 lacks; only with `aspect_ratio_idc` 255.
        public private(set) var sar_width: Int?
        /// The vertical part of that ratio.
        public private(set) var sar_height: Int?
        /// Whether overscan is appropriate; `nil` if not stated.
        public private(set) var overscan_appropriate_flag: Bool?
        /// Whether the elements from `video_format` to `matrix_coeffs` are in the stream.
        public private(set) var video_signal_type_present_flag = false
        /// Table E.2; 5 is unspecified.
        public private(set) var video_format = 5
        /// Whether samples use the full range (0 to 255) and not the limited one (16 to 235 and 240).
        public private(set) var video_full_range_flag = false
        /// Whether the three elements below are in the stream.
        public private(set) var colour_description_present_flag = false
        /// Table E.3; 1 is BT.709, 2 unspecified, 6 SMPTE 170M.
        public private(set) var colour_primaries = 2
        /// Table E.4; 1 is BT.709, 2 unspecified, 6 SMPTE 170M, 13 sRGB.
        public private(set) var transfer_characteristics = 2
        /// Table E.5; 1 is BT.709, 2 unspecified, 5 and 6 BT.601.
        public private(set) var matrix_coeffs = 2
        /// Position of the chroma samples of top fields and of frames (Figure E.1).
        public private(set) var chroma_sample_loc_type_top_field = 0
        /// Position of the chroma samples of bottom fields.
        public private(set) var chroma_sample_loc_type_bottom_field = 0
        /// Whether all chroma samples are neutral.
        public private(set) var neutral_chroma_indication_flag = false
        /// Whether pictures are fields.
        public private(set) var field_seq_flag = false
        /// Whether picture timing SEI messages have `pic_struct`.
        public private(set) var frame_field_info_present_flag = false
        /// The part of the cropped picture to show; `nil` for all of it.
        public private(set) var defaultDisplayWindow: Window?
        /// Clock ticks; `nil` if nothing is said.
        public private(set) var timing: TimingInformation?
        /// The reference decoder.
        public private(set) var hrd_parameters: HRDParameters?
        /// Limits on tiles, motion vectors and sizes; `nil` if nothing is said.
        public private(set) var bitstream_restriction: BitstreamRestriction?

        /// The elements after `bitstream_restriction_flag`.
        public struct BitstreamRestriction: Equatable, Sendable {
            /// Whether all pictures have the same tiles.
            public let tiles_fixed_structure_flag: Bool
            /// Whether motion vectors point beyond the picture's edges.
            public let motion_vectors_over_pic_boundaries_flag: Bool
            /// Whether all slices of a picture have the same reference lists.
            public let restricted_ref_pic_lists_flag: Bool
            /// Lower bound of the size of parts that can be decoded separately; 0 for none.
            public let min_spatial_segmentation_idc: Int
            /// Bound of a picture's size as a fraction of its uncompressed size; 0 for none.
            public let max_bytes_per_pic_denom: Int
            /// Bound of a coding unit's size as a fraction of its uncompressed size; 0 for none.
            public let max_bits_per_min_cu_denom: Int
            /// Log2 of the largest horizontal motion vector component, in quarter samples.
            public let log2_max_mv_length_horizontal: Int
            /// Log2 of the largest vertical motion vector component, in quarter samples.
            public let log2_max_mv_length_vertical: Int
        }
    }
}

extension H265.VUIParameters {
    /// `aspect_ratio_idc` for an explicit ratio.
    private static let extendedSAR = 255

    /// vui_parameters() (E.2.1).
    init(_ reader: inout RBSPReader, maxSubLayersMinus1: Int) throws(SyntaxError) {
        if try reader.flag("aspect_ratio_info_present_flag") {
            aspect_ratio_idc = try reader.u(8, "aspect_ratio_idc")
            if aspect_ratio_idc == Self.extendedSAR {
                sar_width = try reader.u(16, "sar_width")
                sar_height = try reader.u(16, "sar_height")
            }
        }
        if try reader.flag("overscan_info_present_flag") {
            overscan_appropriate_flag = try reader.flag("overscan_appropriate_flag")
        }
        video_signal_type_present_flag = try reader.flag("video_signal_type_present_flag")
        if video_signal_type_present_flag { try readVideoSignalType(&reader) }
        if try reader.flag("chroma_loc_info_present_flag") {
            chroma_sample_loc_type_top_field = try reader.ue("chroma_sample_loc_type_top_field", in: 0...5)
            chroma_sample_loc_type_bottom_field = try reader.ue(
                "chroma_sample_loc_type_bottom_field", in: 0...5)
        }
        neutral_chroma_indication_flag = try reader.flag("neutral_chroma_indication_flag")
        field_seq_flag = try reader.flag("field_seq_flag")
        frame_field_info_present_flag = try reader.flag("frame_field_info_present_flag")
        if try reader.flag("default_display_window_flag") {
            defaultDisplayWindow = try H265.Window(&reader, prefix: "def_disp_win_")
        }
        if try reader.flag("vui_timing_info_present_flag") {
            timing = try H265.TimingInformation(&reader, prefix: "vui_")
            if try reader.flag("vui_hrd_parameters_present_flag") {
                hrd_parameters = try H265.HRDParameters(&reader, maxNumSubLayersMinus1: maxSubLayersMinus1)
            }
        }
        if try reader.flag("bitstream_restriction_flag") {
            bitstream_restriction = try BitstreamRestriction(&reader)
        }
    }

    private mutating func readVideoSignalType(_ reader: inout RBSPReader) throws(SyntaxError) {
        video_format = try reader.u(3, "video_format")
        video_full_range_flag = try reader.flag("video_full_range_flag")
        colour_description_present_flag = try reader.flag("colour_description_present_flag")
        if colour_description_present_flag {
            colour_primaries = try reader.u(8, "colour_primaries")
            transfer_characteristics = try reader.u(8, "transfer_characteristics")
            matrix_coeffs = try reader.u(8, "matrix_coeffs")
        }
    }
}

extension H265.VUIParameters.BitstreamRestriction {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        tiles_fixed_structure_flag = try reader.flag("tiles_fixed_structure_flag")
        motion_vectors_over_pic_boundaries_flag = try reader.flag("motion_vectors_over_pic_boundaries_flag")
        restricted_ref_pic_lists_flag = try reader.flag("restricted_ref_pic_lists_flag")
        min_spatial_segmentation_idc = try reader.ue("min_spatial_segmentation_idc", in: 0...4095)
        max_bytes_per_pic_denom = try reader.ue("max_bytes_per_pic_denom", in: 0...16)
        max_bits_per_min_cu_denom = try reader.ue("max_bits_per_min_cu_denom", in: 0...16)
        log2_max_mv_length_horizontal = try reader.ue("log2_max_mv_length_horizontal", in: 0...16)
        log2_max_mv_length_vertical = try reader.ue("log2_max_mv_length_vertical", in: 0...16)
    }
}
