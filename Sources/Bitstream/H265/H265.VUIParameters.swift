extension H265 {
    /// Video usability information (Annex E): color, timing and buffering, which decoding does not need.
    ///
    /// Elements that are absent from the stream are `nil`, or have the value that E.3.1 infers.
    public struct VUIParameters: Equatable, Sendable {
        /// Shape of a sample: 0 unspecified, 1 square, 2 to 16 by Table E.1, 255 for `sar_width` to
        /// `sar_height`.
        public private(set) var aspect_ratio_idc = 0
        /// The horizontal part of a ratio that Table E.1 lacks; only with `aspect_ratio_idc` 255.
        public private(set) var sar_width: Int?
        /// The vertical part of the ratio.
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
        /// The part of the cropped picture to show; `nil` for the whole picture.
        public private(set) var defaultDisplayWindow: Window?
        /// Clock ticks; `nil` if not stated.
        public private(set) var timing: TimingInformation?
        /// The reference decoder.
        public private(set) var hrd_parameters: HRDParameters?
        /// Limits on tiles, motion vectors and sizes; `nil` if not stated.
        public private(set) var bitstream_restriction: BitstreamRestriction?

        /// The elements after `bitstream_restriction_flag`.
        public struct BitstreamRestriction: Equatable, Sendable {
            /// Whether all pictures have the same tiles.
            public let tiles_fixed_structure_flag: Bool
            /// Whether motion vectors point beyond the picture's edges.
            public let motion_vectors_over_pic_boundaries_flag: Bool
            /// Whether all slices of a picture have the same reference lists.
            public let restricted_ref_pic_lists_flag: Bool
            /// The minimum size of parts that can be decoded separately; 0 for no limit.
            public let min_spatial_segmentation_idc: Int
            /// The limit of a picture's size as a fraction of its uncompressed size; 0 for no limit.
            public let max_bytes_per_pic_denom: Int
            /// The limit of a coding unit's size as a fraction of its uncompressed size; 0 for no limit.
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

// MARK: - Hypothetical reference decoder

extension H265 {
    /// Parameters of the hypothetical reference decoder (E.2.2, E.3.2).
    public struct HRDParameters: Equatable, Sendable {
        /// The elements for all sub-layers. In a video parameter set they may be inherited from the
        /// previous parameters.
        public let common: Common
        /// The temporal sub-layers, by rising `TemporalId`, 1 to 7.
        public let subLayers: [SubLayer]

        /// The elements that `commonInfPresentFlag` signals.
        public struct Common: Equatable, Sendable {
            /// Whether the parameters have schedules for the stream as NAL units.
            public private(set) var nal_hrd_parameters_present_flag = false
            /// Whether the parameters have schedules for the slices and filler data alone.
            public private(set) var vcl_hrd_parameters_present_flag = false
            /// The operation of the decoder below the picture; `nil` if it decodes whole pictures.
            public private(set) var subPicture: SubPicture?
            /// Scale of the bit rates.
            public private(set) var bit_rate_scale = 0
            /// Scale of the buffer sizes.
            public private(set) var cpb_size_scale = 0
            /// Bits of initial removal delays in buffering period messages, less 1.
            public private(set) var initial_cpb_removal_delay_length_minus1 = 23
            /// Bits of `au_cpb_removal_delay_minus1` in picture timing messages, less 1.
            public private(set) var au_cpb_removal_delay_length_minus1 = 23
            /// Bits of `pic_dpb_output_delay` in picture timing messages, less 1.
            public private(set) var dpb_output_delay_length_minus1 = 23
        }

        /// The elements after `sub_pic_hrd_params_present_flag`.
        public struct SubPicture: Equatable, Sendable {
            /// Parts of a clock tick in a sub-picture tick, less 2.
            public let tick_divisor_minus2: Int
            /// Bits of removal delays of decoding units, less 1.
            public let du_cpb_removal_delay_increment_length_minus1: Int
            /// Whether removal delays are in picture timing messages and not in separate messages.
            public let sub_pic_cpb_params_in_pic_timing_sei_flag: Bool
            /// Bits of output delays of decoding units, less 1.
            public let dpb_output_delay_du_length_minus1: Int
            /// Scale of the buffer sizes for decoding units.
            public let cpb_size_du_scale: Int
        }

        /// One temporal sub-layer.
        public struct SubLayer: Equatable, Sendable {
            /// Whether the time between pictures is constant across coded video sequences.
            public let fixed_pic_rate_general_flag: Bool
            /// Whether the time between pictures is constant within a coded video sequence.
            public let fixed_pic_rate_within_cvs_flag: Bool
            /// The time between pictures in clock ticks, less 1; `nil` if not constant.
            public let elemental_duration_in_tc_minus1: Int?
            /// Whether big pictures may arrive late (low delay).
            public let low_delay_hrd_flag: Bool
            /// The schedules for NAL units; may be empty.
            public let nal: [Schedule]
            /// The schedules for slices and filler data; may be empty.
            public let vcl: [Schedule]
        }

        /// One way of delivering the stream.
        public struct Schedule: Equatable, Sendable {
            /// The bit rate, less 1, in units of 2 to the power of 6 + `bit_rate_scale` bits a second.
            public let bit_rate_value_minus1: Int
            /// The buffer's size, less 1, in units of 2 to the power of 4 + `cpb_size_scale` bits.
            public let cpb_size_value_minus1: Int
            /// The size for decoding units, less 1; `nil` without decoding units.
            public let cpb_size_du_value_minus1: Int?
            /// The bit rate for decoding units, less 1; `nil` without decoding units.
            public let bit_rate_du_value_minus1: Int?
            /// Whether the bit rate is constant.
            public let cbr_flag: Bool
        }

        /// The bit rate of a schedule in bits a second (E-76).
        public func bitRate(of schedule: Schedule) -> Int {
            (schedule.bit_rate_value_minus1 + 1) << (6 + common.bit_rate_scale)
        }

        /// The size of the coded picture buffer for a schedule in bits (E-77).
        public func codedPictureBufferSize(of schedule: Schedule) -> Int {
            (schedule.cpb_size_value_minus1 + 1) << (4 + common.cpb_size_scale)
        }
    }
}

extension H265.HRDParameters {
    /// hrd_parameters() (E.2.2).
    ///
    /// - Parameter common: inherited common elements, which the stream does not repeat here.
    init(
        _ reader: inout RBSPReader, common inherited: Common? = nil, maxNumSubLayersMinus1: Int
    ) throws(SyntaxError) {
        let common = if let inherited { inherited } else { try Common(&reader) }
        self.common = common
        var subLayers: [SubLayer] = []
        for i in 0...maxNumSubLayersMinus1 { subLayers.append(try SubLayer(&reader, i, common)) }
        self.subLayers = subLayers
    }
}

extension H265.HRDParameters.Common {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        nal_hrd_parameters_present_flag = try reader.flag("nal_hrd_parameters_present_flag")
        vcl_hrd_parameters_present_flag = try reader.flag("vcl_hrd_parameters_present_flag")
        guard nal_hrd_parameters_present_flag || vcl_hrd_parameters_present_flag else { return }
        let hasSubPicture = try reader.flag("sub_pic_hrd_params_present_flag")
        var divisor = 0
        var removalLength = 0
        var isInPictureTiming = false
        var outputLength = 0
        if hasSubPicture {
            divisor = try reader.u(8, "tick_divisor_minus2")
            removalLength = try reader.u(5, "du_cpb_removal_delay_increment_length_minus1")
            isInPictureTiming = try reader.flag("sub_pic_cpb_params_in_pic_timing_sei_flag")
            outputLength = try reader.u(5, "dpb_output_delay_du_length_minus1")
        }
        bit_rate_scale = try reader.u(4, "bit_rate_scale")
        cpb_size_scale = try reader.u(4, "cpb_size_scale")
        if hasSubPicture {
            subPicture = H265.HRDParameters.SubPicture(
                tick_divisor_minus2: divisor, du_cpb_removal_delay_increment_length_minus1: removalLength,
                sub_pic_cpb_params_in_pic_timing_sei_flag: isInPictureTiming,
                dpb_output_delay_du_length_minus1: outputLength,
                cpb_size_du_scale: try reader.u(4, "cpb_size_du_scale"))
        }
        initial_cpb_removal_delay_length_minus1 = try reader.u(5, "initial_cpb_removal_delay_length_minus1")
        au_cpb_removal_delay_length_minus1 = try reader.u(5, "au_cpb_removal_delay_length_minus1")
        dpb_output_delay_length_minus1 = try reader.u(5, "dpb_output_delay_length_minus1")
    }
}

extension H265.HRDParameters.SubLayer {
    fileprivate init(
        _ reader: inout RBSPReader, _ i: Int, _ common: H265.HRDParameters.Common
    ) throws(SyntaxError) {
        fixed_pic_rate_general_flag = try reader.flag("fixed_pic_rate_general_flag", i)
        fixed_pic_rate_within_cvs_flag =
            fixed_pic_rate_general_flag ? true : try reader.flag("fixed_pic_rate_within_cvs_flag", i)
        if fixed_pic_rate_within_cvs_flag {
            elemental_duration_in_tc_minus1 = try reader.ue(
                "elemental_duration_in_tc_minus1", i, in: 0...2047)
            low_delay_hrd_flag = false
        } else {
            elemental_duration_in_tc_minus1 = nil
            low_delay_hrd_flag = try reader.flag("low_delay_hrd_flag", i)
        }
        let count = low_delay_hrd_flag ? 1 : try reader.ue("cpb_cnt_minus1", i, in: 0...31) + 1
        nal =
            common.nal_hrd_parameters_present_flag ? try Self.schedules(&reader, count, common) : []
        vcl =
            common.vcl_hrd_parameters_present_flag ? try Self.schedules(&reader, count, common) : []
    }

    /// sub_layer_hrd_parameters() (E.2.3).
    private static func schedules(
        _ reader: inout RBSPReader, _ count: Int, _ common: H265.HRDParameters.Common
    ) throws(SyntaxError) -> [H265.HRDParameters.Schedule] {
        let hasSubPicture = common.subPicture != nil
        var schedules: [H265.HRDParameters.Schedule] = []
        for i in 0..<count {
            schedules.append(
                H265.HRDParameters.Schedule(
                    bit_rate_value_minus1: try reader.ue("bit_rate_value_minus1", i),
                    cpb_size_value_minus1: try reader.ue("cpb_size_value_minus1", i),
                    cpb_size_du_value_minus1: hasSubPicture
                        ? try reader.ue("cpb_size_du_value_minus1", i) : nil,
                    bit_rate_du_value_minus1: hasSubPicture
                        ? try reader.ue("bit_rate_du_value_minus1", i) : nil,
                    cbr_flag: try reader.flag("cbr_flag", i)))
        }
        return schedules
    }
}
