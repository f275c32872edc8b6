extension H264 {
    /// Video usability information (Annex E): color, timing and buffering, which decoding does not need.
    ///
    /// Elements that are absent from the stream are `nil`, or have the value that E.2.1 infers.
    public struct VUIParameters: Equatable, Sendable {
        /// Shape of a sample: 0 unspecified, 1 square, 2 to 16 by Table E-1, 255 for `sar_width` to
        /// `sar_height`.
        public private(set) var aspect_ratio_idc = 0
        /// The horizontal part of a ratio that Table E-1 lacks; only with `aspect_ratio_idc` 255.
        public private(set) var sar_width: Int?
        /// The vertical part of the ratio.
        public private(set) var sar_height: Int?
        /// Whether overscan is appropriate; `nil` if not stated.
        public private(set) var overscan_appropriate_flag: Bool?
        /// Whether the elements from `video_format` to `matrix_coefficients` are in the stream.
        public private(set) var video_signal_type_present_flag = false
        /// Table E-2; 5 is unspecified.
        public private(set) var video_format = 5
        /// Whether samples use the full range (0 to 255) and not the limited one (16 to 235 and 240).
        public private(set) var video_full_range_flag = false
        /// Whether the three elements below are in the stream.
        public private(set) var colour_description_present_flag = false
        /// Table E-3; 1 is BT.709, 2 unspecified, 6 SMPTE 170M.
        public private(set) var colour_primaries = 2
        /// Table E-4; 1 is BT.709, 2 unspecified, 6 SMPTE 170M, 13 sRGB.
        public private(set) var transfer_characteristics = 2
        /// Table E-5; 1 is BT.709, 2 unspecified, 5 and 6 BT.601.
        public private(set) var matrix_coefficients = 2
        /// Position of the chroma samples of top fields and of frames (Figure E-1).
        public private(set) var chroma_sample_loc_type_top_field = 0
        /// Position of the chroma samples of bottom fields.
        public private(set) var chroma_sample_loc_type_bottom_field = 0
        /// Clock ticks and the regularity of pictures; `nil` if not stated.
        public private(set) var timing: Timing?
        /// The reference decoder for the stream as NAL units.
        public private(set) var nal_hrd_parameters: HRDParameters?
        /// The reference decoder for the stream's slices and filler data alone.
        public private(set) var vcl_hrd_parameters: HRDParameters?
        /// Whether the reference decoder works below the access unit; only with HRD parameters.
        public private(set) var low_delay_hrd_flag: Bool?
        /// Whether picture timing SEI messages have `pic_struct`.
        public private(set) var pic_struct_present_flag = false
        /// Limits on motion vectors, picture sizes and reordering; `nil` if not stated.
        public private(set) var bitstream_restriction: BitstreamRestriction?

        /// The elements after `timing_info_present_flag`.
        public struct Timing: Equatable, Sendable {
            /// Units of the clock of frequency `time_scale` in a tick, which is half a frame.
            public let num_units_in_tick: Int
            /// Units of the clock in a second.
            public let time_scale: Int
            /// Whether the distance between pictures is constant.
            public let fixed_frame_rate_flag: Bool
        }

        /// The elements after `bitstream_restriction_flag`.
        public struct BitstreamRestriction: Equatable, Sendable {
            /// Whether motion vectors point beyond the picture's edges.
            public let motion_vectors_over_pic_boundaries_flag: Bool
            /// The limit of a picture's size as a fraction of its uncompressed size; 0 for no limit.
            public let max_bytes_per_pic_denom: Int
            /// The limit of a macroblock's size as a fraction of its uncompressed size; 0 for no limit.
            public let max_bits_per_mb_denom: Int
            /// Log2 of the largest horizontal motion vector component, in quarter samples.
            public let log2_max_mv_length_horizontal: Int
            /// Log2 of the largest vertical motion vector component, in quarter samples.
            public let log2_max_mv_length_vertical: Int
            /// The number of frames that may precede a frame in decoding order and follow it in output
            /// order.
            public let max_num_reorder_frames: Int
            /// Frame buffers that decoding needs.
            public let max_dec_frame_buffering: Int
        }
    }
}

extension H264.VUIParameters {
    /// `aspect_ratio_idc` for an explicit ratio.
    private static let extendedSAR = 255

    /// vui_parameters() (E.1.1).
    init(_ reader: inout RBSPReader) throws(SyntaxError) {
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
        if try reader.flag("timing_info_present_flag") { timing = try Timing(&reader) }
        if try reader.flag("nal_hrd_parameters_present_flag") {
            nal_hrd_parameters = try H264.HRDParameters(&reader)
        }
        if try reader.flag("vcl_hrd_parameters_present_flag") {
            vcl_hrd_parameters = try H264.HRDParameters(&reader)
        }
        if nal_hrd_parameters != nil || vcl_hrd_parameters != nil {
            low_delay_hrd_flag = try reader.flag("low_delay_hrd_flag")
        }
        pic_struct_present_flag = try reader.flag("pic_struct_present_flag")
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
            matrix_coefficients = try reader.u(8, "matrix_coefficients")
        }
    }
}

extension H264.VUIParameters.Timing {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        num_units_in_tick = try reader.u(32, "num_units_in_tick")
        time_scale = try reader.u(32, "time_scale")
        fixed_frame_rate_flag = try reader.flag("fixed_frame_rate_flag")
    }
}

extension H264.VUIParameters.BitstreamRestriction {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        motion_vectors_over_pic_boundaries_flag = try reader.flag("motion_vectors_over_pic_boundaries_flag")
        max_bytes_per_pic_denom = try reader.ue("max_bytes_per_pic_denom", in: 0...16)
        max_bits_per_mb_denom = try reader.ue("max_bits_per_mb_denom", in: 0...16)
        log2_max_mv_length_horizontal = try reader.ue("log2_max_mv_length_horizontal", in: 0...16)
        log2_max_mv_length_vertical = try reader.ue("log2_max_mv_length_vertical", in: 0...16)
        max_num_reorder_frames = try reader.ue("max_num_reorder_frames", in: 0...16)
        max_dec_frame_buffering = try reader.ue("max_dec_frame_buffering", in: 0...16)
    }
}

// MARK: - Hypothetical reference decoder

extension H264 {
    /// Parameters of the hypothetical reference decoder (E.1.2, E.2.2).
    public struct HRDParameters: Equatable, Sendable {
        /// One way of delivering the stream (`SchedSelIdx`).
        public struct Schedule: Equatable, Sendable {
            /// The bit rate, less 1, in units of 2 to the power of 6 + `bit_rate_scale` bits a second.
            public let bit_rate_value_minus1: Int
            /// The buffer's size, less 1, in units of 2 to the power of 4 + `cpb_size_scale` bits.
            public let cpb_size_value_minus1: Int
            /// Whether the bit rate is constant.
            public let cbr_flag: Bool
        }

        /// Scale of the bit rates.
        public let bit_rate_scale: Int
        /// Scale of the buffer sizes.
        public let cpb_size_scale: Int
        /// The `cpb_cnt_minus1` + 1 schedules, 1 to 32.
        public let schedules: [Schedule]
        /// Bits of `initial_cpb_removal_delay` in buffering period SEI messages, less 1.
        public let initial_cpb_removal_delay_length_minus1: Int
        /// Bits of `cpb_removal_delay` in picture timing SEI messages, less 1.
        public let cpb_removal_delay_length_minus1: Int
        /// Bits of `dpb_output_delay` in picture timing SEI messages, less 1.
        public let dpb_output_delay_length_minus1: Int
        /// Bits of `time_offset` in picture timing SEI messages.
        public let time_offset_length: Int

        /// The bit rate of a schedule in bits a second (E-37).
        public func bitRate(of schedule: Schedule) -> Int {
            (schedule.bit_rate_value_minus1 + 1) << (6 + bit_rate_scale)
        }

        /// The size of the coded picture buffer for a schedule in bits (E-38).
        public func codedPictureBufferSize(of schedule: Schedule) -> Int {
            (schedule.cpb_size_value_minus1 + 1) << (4 + cpb_size_scale)
        }

        init(_ reader: inout RBSPReader) throws(SyntaxError) {
            let count = try reader.ue("cpb_cnt_minus1", in: 0...31) + 1
            bit_rate_scale = try reader.u(4, "bit_rate_scale")
            cpb_size_scale = try reader.u(4, "cpb_size_scale")
            var schedules: [Schedule] = []
            for i in 0..<count {
                schedules.append(
                    Schedule(
                        bit_rate_value_minus1: try reader.ue("bit_rate_value_minus1", i),
                        cpb_size_value_minus1: try reader.ue("cpb_size_value_minus1", i),
                        cbr_flag: try reader.flag("cbr_flag", i)))
            }
            self.schedules = schedules
            initial_cpb_removal_delay_length_minus1 = try reader.u(
                5, "initial_cpb_removal_delay_length_minus1")
            cpb_removal_delay_length_minus1 = try reader.u(5, "cpb_removal_delay_length_minus1")
            dpb_output_delay_length_minus1 = try reader.u(5, "dpb_output_delay_length_minus1")
            time_offset_length = try reader.u(5, "time_offset_length")
        }
    }
}
