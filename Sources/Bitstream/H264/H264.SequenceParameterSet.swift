import CamPictures

extension H264 {
    /// A sequence parameter set (7.3.2.1.1, 7.4.2.1.1) with every syntax element.
    ///
    /// Elements that are absent from the stream have the value that 7.4.2.1.1 infers.
    public struct SequenceParameterSet: Equatable, Sendable {
        /// Together with the constraint flags, the profile (Annex A); see `profileName`.
        public private(set) var profile_idc = 0
        /// Whether the stream obeys the Baseline profile.
        public private(set) var constraint_set0_flag = false
        /// Whether the stream obeys the Main profile; with `profile_idc` 66, Constrained Baseline.
        public private(set) var constraint_set1_flag = false
        /// Whether the stream obeys the Extended profile.
        public private(set) var constraint_set2_flag = false
        /// Level 1b in the older profiles, intra-only in the High ones.
        public private(set) var constraint_set3_flag = false
        /// Whether all pictures are frames (High profile).
        public private(set) var constraint_set4_flag = false
        /// Whether the stream has no B slices (High profile).
        public private(set) var constraint_set5_flag = false
        /// Ten times the level; see `levelName`.
        public private(set) var level_idc = 0
        /// The id by which picture parameter sets refer to this set, 0 to 31.
        public private(set) var seq_parameter_set_id = 0

        /// Chroma sampling (Table 6-1): 0 none, 1 4:2:0, 2 4:2:2, 3 4:4:4.
        public private(set) var chroma_format_idc = 1
        /// Whether the three planes of 4:4:4 are coded separately.
        public private(set) var separate_colour_plane_flag = false
        /// Bits of a luma sample, less 8.
        public private(set) var bit_depth_luma_minus8 = 0
        /// Bits of a chroma sample, less 8.
        public private(set) var bit_depth_chroma_minus8 = 0
        /// Whether a quantizer of 0 means lossless.
        public private(set) var qpprime_y_zero_transform_bypass_flag = false
        /// The 8 or 12 lists of the scaling matrix; `nil` for the flat one.
        public private(set) var scaling_lists: [ScalingList]?

        /// Bits of `frame_num`, less 4.
        public private(set) var log2_max_frame_num_minus4 = 0
        /// How the picture order count is coded, 0 to 2.
        public private(set) var pic_order_cnt_type = 0
        /// Bits of `pic_order_cnt_lsb`, less 4; only with type 0.
        public private(set) var log2_max_pic_order_cnt_lsb_minus4: Int?
        /// The elements of picture order count type 1; `nil` with other types.
        public private(set) var pictureOrderCountCycle: PictureOrderCountCycle?
        /// The most reference frames in use.
        public private(set) var max_num_ref_frames = 0
        /// Whether `frame_num` may have gaps.
        public private(set) var gaps_in_frame_num_value_allowed_flag = false

        /// Macroblocks in a row, less 1.
        public private(set) var pic_width_in_mbs_minus1 = 0
        /// Rows of macroblocks in a frame, or in a field if pictures may be fields, less 1.
        public private(set) var pic_height_in_map_units_minus1 = 0
        /// Whether all pictures are frames.
        public private(set) var frame_mbs_only_flag = true
        /// Whether a frame may switch between frame and field macroblocks.
        public private(set) var mb_adaptive_frame_field_flag = false
        /// How motion vectors of direct prediction are derived.
        public private(set) var direct_8x8_inference_flag = false
        /// Cropping at the left, in crop units (see `cropUnit`).
        public private(set) var frame_crop_left_offset = 0
        /// Cropping at the right.
        public private(set) var frame_crop_right_offset = 0
        /// Cropping at the top.
        public private(set) var frame_crop_top_offset = 0
        /// Cropping at the bottom.
        public private(set) var frame_crop_bottom_offset = 0
        /// Video usability information; `nil` if there is none.
        public private(set) var vui_parameters: VUIParameters?

        /// The elements of picture order count type 1.
        public struct PictureOrderCountCycle: Equatable, Sendable {
            /// Whether slice headers have no `delta_pic_order_cnt`.
            public let delta_pic_order_always_zero_flag: Bool
            /// Offset of non-reference pictures.
            public let offset_for_non_ref_pic: Int
            /// Offset of bottom fields.
            public let offset_for_top_to_bottom_field: Int
            /// The offsets of the cycle, at most 255.
            public let offset_for_ref_frame: [Int]
        }

        /// Reads a sequence parameter set NAL unit (type 7), given without start code, or the sequence
        /// parameter set data that a subset sequence parameter set (type 15) begins with.
        ///
        /// Bytes after the structure are ignored, as decoders do.
        public init(_ nalUnit: RawSpan) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (_, reader) = try RBSPReader.h264(bytes) {
                    $0 == .sequenceParameterSet || $0 == .subsetSequenceParameterSet
                }
                return try SequenceParameterSet(&reader)
            }
        }
    }
}

extension H264.SequenceParameterSet {
    /// The profiles whose parameter sets describe chroma format, bit depth and scaling matrix.
    private static let profilesWithChromaFormat: [Int] = [
        100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
    ]

    /// seq_parameter_set_data() (7.3.2.1.1).
    init(_ reader: inout RBSPReader) throws(SyntaxError) {
        try readProfile(&reader)
        seq_parameter_set_id = try reader.ue("seq_parameter_set_id", in: 0...31)
        if Self.profilesWithChromaFormat.contains(profile_idc) { try readChromaFormat(&reader) }
        log2_max_frame_num_minus4 = try reader.ue("log2_max_frame_num_minus4", in: 0...12)
        pic_order_cnt_type = try reader.ue("pic_order_cnt_type", in: 0...2)
        if pic_order_cnt_type == 0 {
            log2_max_pic_order_cnt_lsb_minus4 = try reader.ue(
                "log2_max_pic_order_cnt_lsb_minus4", in: 0...12)
        } else if pic_order_cnt_type == 1 {
            pictureOrderCountCycle = try PictureOrderCountCycle(&reader)
        }
        max_num_ref_frames = try reader.ue("max_num_ref_frames", in: 0...16)
        gaps_in_frame_num_value_allowed_flag = try reader.flag("gaps_in_frame_num_value_allowed_flag")
        try readPictureSize(&reader)
        if try reader.flag("vui_parameters_present_flag") {
            vui_parameters = try H264.VUIParameters(&reader)
        }
    }

    private mutating func readProfile(_ reader: inout RBSPReader) throws(SyntaxError) {
        profile_idc = try reader.u(8, "profile_idc")
        constraint_set0_flag = try reader.flag("constraint_set0_flag")
        constraint_set1_flag = try reader.flag("constraint_set1_flag")
        constraint_set2_flag = try reader.flag("constraint_set2_flag")
        constraint_set3_flag = try reader.flag("constraint_set3_flag")
        constraint_set4_flag = try reader.flag("constraint_set4_flag")
        constraint_set5_flag = try reader.flag("constraint_set5_flag")
        _ = try reader.u(2, "reserved_zero_2bits")  // Decoders shall ignore its value (7.4.2.1.1).
        level_idc = try reader.u(8, "level_idc")
    }

    private mutating func readChromaFormat(_ reader: inout RBSPReader) throws(SyntaxError) {
        chroma_format_idc = try reader.ue("chroma_format_idc", in: 0...3)
        if chroma_format_idc == 3 {
            separate_colour_plane_flag = try reader.flag("separate_colour_plane_flag")
        }
        bit_depth_luma_minus8 = try reader.ue("bit_depth_luma_minus8", in: 0...6)
        bit_depth_chroma_minus8 = try reader.ue("bit_depth_chroma_minus8", in: 0...6)
        qpprime_y_zero_transform_bypass_flag = try reader.flag("qpprime_y_zero_transform_bypass_flag")
        if try reader.flag("seq_scaling_matrix_present_flag") {
            scaling_lists = try reader.scalingLists(
                count8x8: chroma_format_idc == 3 ? 6 : 2, presentFlag: "seq_scaling_list_present_flag")
        }
    }

    private mutating func readPictureSize(_ reader: inout RBSPReader) throws(SyntaxError) {
        // No level allows a side of more than 1055 macroblocks (A.3.1); the bound here keeps products small.
        pic_width_in_mbs_minus1 = try reader.ue("pic_width_in_mbs_minus1", in: 0...0xFFFF)
        pic_height_in_map_units_minus1 = try reader.ue("pic_height_in_map_units_minus1", in: 0...0xFFFF)
        frame_mbs_only_flag = try reader.flag("frame_mbs_only_flag")
        if !frame_mbs_only_flag {
            mb_adaptive_frame_field_flag = try reader.flag("mb_adaptive_frame_field_flag")
        }
        direct_8x8_inference_flag = try reader.flag("direct_8x8_inference_flag")
        guard try reader.flag("frame_cropping_flag") else { return }
        frame_crop_left_offset = try reader.ue("frame_crop_left_offset")
        frame_crop_right_offset = try reader.ue("frame_crop_right_offset")
        frame_crop_top_offset = try reader.ue("frame_crop_top_offset")
        frame_crop_bottom_offset = try reader.ue("frame_crop_bottom_offset")
        if width <= 0 || height <= 0 {
            throw SyntaxError(
                element: "frame_cropping_flag", reason: .croppedAway, bitOffset: reader.bitOffset)
        }
    }
}

extension H264.SequenceParameterSet.PictureOrderCountCycle {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        delta_pic_order_always_zero_flag = try reader.flag("delta_pic_order_always_zero_flag")
        offset_for_non_ref_pic = try reader.se("offset_for_non_ref_pic")
        offset_for_top_to_bottom_field = try reader.se("offset_for_top_to_bottom_field")
        var offsets: [Int] = []
        for i in 0..<(try reader.ue("num_ref_frames_in_pic_order_cnt_cycle", in: 0...255)) {
            offsets.append(try reader.se("offset_for_ref_frame", i))
        }
        offset_for_ref_frame = offsets
    }
}

// MARK: - Derived values

extension H264.SequenceParameterSet {
    /// Width of a coded frame in luma samples, before cropping: a multiple of 16.
    public var codedWidth: Int { (pic_width_in_mbs_minus1 + 1) * 16 }

    /// Height of a coded frame in luma samples, before cropping: a multiple of 16.
    public var codedHeight: Int {
        (pic_height_in_map_units_minus1 + 1) * 16 * (frame_mbs_only_flag ? 1 : 2)
    }

    /// `ChromaArrayType` (7.4.2.1.1): `chroma_format_idc`, or 0 if the planes are coded separately.
    public var chromaArrayType: Int { separate_colour_plane_flag ? 0 : chroma_format_idc }

    /// Luma samples of one step of cropping, across and down (equations 7-19 to 7-22).
    public var cropUnit: (x: Int, y: Int) {
        let fields = frame_mbs_only_flag ? 1 : 2
        return switch chromaArrayType {
        case 1: (x: 2, y: 2 * fields)
        case 2: (x: 2, y: fields)
        default: (x: 1, y: fields)
        }
    }

    /// Width of the picture in luma samples, after cropping.
    public var width: Int {
        codedWidth - cropUnit.x * (frame_crop_left_offset + frame_crop_right_offset)
    }

    /// Height of the picture in luma samples, after cropping.
    public var height: Int {
        codedHeight - cropUnit.y * (frame_crop_top_offset + frame_crop_bottom_offset)
    }

    /// Bits of a luma sample.
    public var bitDepth: Int { bit_depth_luma_minus8 + 8 }

    /// Frames a second according to the VUI, where a frame is two ticks (E.2.1); `nil` without a usable
    /// rate.
    public var frameRate: FrameRate? {
        vui_parameters?.timing.flatMap {
            FrameRate(announced: $0.time_scale, in: $0.num_units_in_tick * 2)
        }
    }

    /// Whether samples use the full range; by default limited (E.2.1).
    public var isFullRange: Bool { vui_parameters?.video_full_range_flag ?? false }

    /// The number of frames that may precede a frame in decoding order and follow it in output order, from
    /// the VUI or inferred by E.2.1; with 0, output order is decoding order.
    public var maxNumReorderFrames: Int {
        if let restriction = vui_parameters?.bitstream_restriction {
            return restriction.max_num_reorder_frames
        }
        // With type 2, output order is decoding order (8.2.1.3).
        if pic_order_cnt_type == 2 { return 0 }
        let isIntraOnly = constraint_set3_flag && [44, 86, 100, 110, 122, 244].contains(profile_idc)
        return isIntraOnly ? 0 : maxDecodedPictureBufferFrames
    }

    /// `MaxDpbFrames`: frames that a decoder of this level holds at this size (A.3.1, Table A-1).
    public var maxDecodedPictureBufferFrames: Int {
        let macroblocks: Int =
            switch level_idc {
            case 9, 10: 396
            case 11: isLevel1b ? 396 : 900
            case 12, 13, 20: 2376
            case 21: 4752
            case 22, 30: 8100
            case 31: 18000
            case 32: 20480
            case 40, 41: 32768
            case 42: 34816
            case 50: 110_400
            case 51, 52: 184_320
            default: 696_320
            }
        return min(macroblocks / (codedWidth / 16 * (codedHeight / 16)), 16)
    }

    /// The level's name (Table A-1), like "1b", "3", "4.1".
    public var levelName: String {
        H264.levelName(
            level_idc, profile_idc: profile_idc, constraint_set3_flag: constraint_set3_flag)
    }

    private var isLevel1b: Bool { levelName == "1b" }

    /// The profile's name (A.2, F.10, G.10, H.10), like "Constrained Baseline", or its number without a
    /// name.
    public var profileName: String {
        H264.profileName(
            profile_idc, constraint_set1_flag: constraint_set1_flag,
            constraint_set3_flag: constraint_set3_flag, constraint_set4_flag: constraint_set4_flag,
            constraint_set5_flag: constraint_set5_flag)
    }
}

extension H264 {
    /// The name of a level (Table A-1), like "1b", "3", "4.1".
    static func levelName(_ level_idc: Int, profile_idc: Int, constraint_set3_flag: Bool) -> String {
        let isLevel1b =
            switch profile_idc {
            case 66, 77, 88: level_idc == 11 && constraint_set3_flag
            default: level_idc == 9
            }
        if isLevel1b { return "1b" }
        return level_idc % 10 == 0 ? "\(level_idc / 10)" : "\(level_idc / 10).\(level_idc % 10)"
    }

    /// The name of a profile (A.2, F.10, G.10, H.10), like "Constrained Baseline", or its number without a
    /// name.
    static func profileName(
        _ profile_idc: Int, constraint_set1_flag: Bool, constraint_set3_flag: Bool,
        constraint_set4_flag: Bool, constraint_set5_flag: Bool
    ) -> String {
        switch profile_idc {
        case 66: constraint_set1_flag ? "Constrained Baseline" : "Baseline"
        case 77: "Main"
        case 88: "Extended"
        case 100:
            switch (constraint_set4_flag, constraint_set5_flag) {
            case (true, true): "Constrained High"
            case (true, false): "Progressive High"
            default: "High"
            }
        case 110:
            constraint_set3_flag ? "High 10 Intra" : constraint_set4_flag ? "Progressive High 10" : "High 10"
        case 122: constraint_set3_flag ? "High 4:2:2 Intra" : "High 4:2:2"
        case 244: constraint_set3_flag ? "High 4:4:4 Intra" : "High 4:4:4 Predictive"
        case 44: "CAVLC 4:4:4 Intra"
        case 83: constraint_set5_flag ? "Scalable Constrained Baseline" : "Scalable Baseline"
        case 86:
            constraint_set3_flag
                ? "Scalable High Intra" : constraint_set5_flag ? "Scalable Constrained High" : "Scalable High"
        case 118: "Multiview High"
        case 128: "Stereo High"
        case 134: "MFC High"
        case 135: "MFC Depth High"
        case 138: "Multiview Depth High"
        case 139: "Enhanced Multiview Depth High"
        default: "profile \(profile_idc)"
        }
    }
}

// MARK: - Sequence parameter set extension

extension H264 {
    /// A sequence parameter set extension (7.3.2.1.2, 7.4.2.1.2): auxiliary coded pictures, such as an alpha
    /// plane.
    public struct SequenceParameterSetExtension: Equatable, Sendable {
        /// The sequence parameter set that is extended, 0 to 31.
        public let seq_parameter_set_id: Int
        /// The purpose of auxiliary pictures: 0 nothing, 1 alpha blending with a primary picture, 2 alpha
        /// blending with a premultiplied primary picture, 3 unspecified.
        public let aux_format_idc: Int
        /// The elements for blending; `nil` with `aux_format_idc` 0.
        public let alpha: Alpha?
        /// Whether `additional_extension_data_flag`s follow, which decoders ignore.
        public let additional_extension_flag: Bool

        /// How auxiliary samples are interpreted.
        public struct Alpha: Equatable, Sendable {
            /// Bits of an auxiliary sample, less 8.
            public let bit_depth_aux_minus8: Int
            /// Whether samples are to be inverted.
            public let alpha_incr_flag: Bool
            /// The sample value for opaque.
            public let alpha_opaque_value: Int
            /// The sample value for transparent.
            public let alpha_transparent_value: Int
        }

        /// Reads a sequence parameter set extension NAL unit (type 13), given without start code.
        public init(_ nalUnit: RawSpan) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (_, reader) = try RBSPReader.h264(bytes) { $0 == .sequenceParameterSetExtension }
                return try SequenceParameterSetExtension(&reader)
            }
        }

        /// seq_parameter_set_extension_rbsp() (7.3.2.1.2).
        init(_ reader: inout RBSPReader) throws(SyntaxError) {
            seq_parameter_set_id = try reader.ue("seq_parameter_set_id", in: 0...31)
            aux_format_idc = try reader.ue("aux_format_idc", in: 0...3)
            alpha = aux_format_idc == 0 ? nil : try Alpha(&reader)
            additional_extension_flag = try reader.flag("additional_extension_flag")
        }
    }
}

extension H264.SequenceParameterSetExtension.Alpha {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        bit_depth_aux_minus8 = try reader.ue("bit_depth_aux_minus8", in: 0...4)
        alpha_incr_flag = try reader.flag("alpha_incr_flag")
        alpha_opaque_value = try reader.u(bit_depth_aux_minus8 + 9, "alpha_opaque_value")
        alpha_transparent_value = try reader.u(bit_depth_aux_minus8 + 9, "alpha_transparent_value")
    }
}
