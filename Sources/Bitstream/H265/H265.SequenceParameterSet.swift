import CamPictures

extension H265 {
    /// A sequence parameter set (7.3.2.2, 7.4.3.2) of the base layer, with its range and screen content
    /// extensions; of other extensions, it records only the presence.
    ///
    /// Elements that are absent from the stream have the value that 7.4.3.2 infers.
    public struct SequenceParameterSet: Equatable, Sendable {
        /// The video parameter set in use, 0 to 15.
        public let sps_video_parameter_set_id: Int
        /// The most temporal sub-layers, less 1: 0 to 6.
        public let sps_max_sub_layers_minus1: Int
        /// Whether decoding can switch up to a higher sub-layer at any picture.
        public let sps_temporal_id_nesting_flag: Bool
        /// Profile, tier and level.
        public let profile_tier_level: ProfileTierLevel
        /// The id by which picture parameter sets refer to this set, 0 to 15.
        public let sps_seq_parameter_set_id: Int

        /// Chroma sampling (Table 6-1): 0 none, 1 4:2:0, 2 4:2:2, 3 4:4:4.
        public private(set) var chroma_format_idc = 1
        /// Whether the three planes of 4:4:4 are coded separately.
        public private(set) var separate_colour_plane_flag = false
        /// Width of a coded picture; a multiple of the smallest coding block.
        public private(set) var pic_width_in_luma_samples = 0
        /// Height of a coded picture; a multiple of the smallest coding block.
        public private(set) var pic_height_in_luma_samples = 0
        /// The part of a picture that is output; `nil` for the whole picture.
        public private(set) var conformanceWindow: Window?
        /// Bits of a luma sample, less 8.
        public private(set) var bit_depth_luma_minus8 = 0
        /// Bits of a chroma sample, less 8.
        public private(set) var bit_depth_chroma_minus8 = 0
        /// Bits of `slice_pic_order_cnt_lsb`, less 4.
        public private(set) var log2_max_pic_order_cnt_lsb_minus4 = 0
        /// The orderings by rising `TemporalId`; only the ordering of the highest sub-layer if it applies
        /// to all.
        public private(set) var subLayerOrderings: [SubLayerOrdering] = []

        /// Log2 of the smallest coding block's side, less 3.
        public private(set) var log2_min_luma_coding_block_size_minus3 = 0
        /// Log2 of the coding tree block's side, less the log2 of the smallest coding block's side.
        public private(set) var log2_diff_max_min_luma_coding_block_size = 0
        /// Log2 of the smallest transform block's side, less 2.
        public private(set) var log2_min_luma_transform_block_size_minus2 = 0
        /// Log2 of the largest transform block's side, less the log2 of the smallest transform block's
        /// side.
        public private(set) var log2_diff_max_min_luma_transform_block_size = 0
        /// Depth of the transform tree in inter coding units.
        public private(set) var max_transform_hierarchy_depth_inter = 0
        /// Depth of the transform tree in intra coding units.
        public private(set) var max_transform_hierarchy_depth_intra = 0
        /// Whether coefficients are scaled by lists instead of uniformly.
        public private(set) var scaling_list_enabled_flag = false
        /// The scaling lists, by size and matrix; `nil` for flat lists, or the default lists of Tables 7-5
        /// and 7-6.
        public private(set) var scaling_list_data: [[ScalingList]]?
        /// Whether motion partitions may be asymmetric.
        public private(set) var amp_enabled_flag = false
        /// Whether the sample adaptive offset filter is used.
        public private(set) var sample_adaptive_offset_enabled_flag = false
        /// Uncompressed samples; `nil` if not allowed.
        public private(set) var pcm: PCM?

        /// The short-term reference picture sets that slices can name, at most 64.
        public private(set) var shortTermReferencePictureSets: [ShortTermReferencePictureSet] = []
        /// Whether long-term reference pictures are allowed.
        public private(set) var long_term_ref_pics_present_flag = false
        /// The long-term reference pictures that slices can name, at most 32.
        public private(set) var longTermReferencePictures: [LongTermReferencePicture] = []
        /// Whether slices may use the motion vectors of other pictures.
        public private(set) var sps_temporal_mvp_enabled_flag = false
        /// Whether large smooth blocks are interpolated more strongly in intra prediction.
        public private(set) var strong_intra_smoothing_enabled_flag = false
        /// Video usability information; `nil` if there is none.
        public private(set) var vui_parameters: VUIParameters?
        /// The extensions; `nil` if there are none.
        public private(set) var extensions: Extensions?

        /// The elements after `pcm_enabled_flag`.
        public struct PCM: Equatable, Sendable {
            /// Bits of a luma sample, less 1.
            public let pcm_sample_bit_depth_luma_minus1: Int
            /// Bits of a chroma sample, less 1.
            public let pcm_sample_bit_depth_chroma_minus1: Int
            /// Log2 of the smallest block's side, less 3.
            public let log2_min_pcm_luma_coding_block_size_minus3: Int
            /// Log2 of the largest block's side, less the log2 of the smallest block's side.
            public let log2_diff_max_min_pcm_luma_coding_block_size: Int
            /// Whether deblocking skips uncompressed blocks.
            public let pcm_loop_filter_disabled_flag: Bool
        }

        /// A long-term reference picture that slices can name.
        public struct LongTermReferencePicture: Equatable, Sendable {
            /// The low bits of the picture order count.
            public let lt_ref_pic_poc_lsb_sps: Int
            /// Whether the current picture refers to the long-term picture; false if only later pictures
            /// do.
            public let used_by_curr_pic_lt_sps_flag: Bool
        }

        /// The elements after `sps_extension_present_flag`.
        public struct Extensions: Equatable, Sendable {
            /// The range extension; `nil` if it is absent.
            public let range: RangeExtension?
            /// Whether the set has a multilayer extension (Annex F), which is not read.
            public let sps_multilayer_extension_flag: Bool
            /// Whether the set has a 3D extension (Annex I), which is not read.
            public let sps_3d_extension_flag: Bool
            /// The screen content extension; `nil` if absent, and after an extension that is not read.
            public let screenContent: ScreenContentExtension?
            /// Reserved for future extensions; 0 today.
            public let sps_extension_4bits: Int
        }

        /// sps_range_extension() (7.3.2.2.2).
        public struct RangeExtension: Equatable, Sendable {
            /// Whether residuals of transform skip blocks are rotated.
            public let transform_skip_rotation_enabled_flag: Bool
            /// Whether transform skip blocks have their own context.
            public let transform_skip_context_enabled_flag: Bool
            /// Whether residual DPCM is inferred in intra blocks.
            public let implicit_rdpcm_enabled_flag: Bool
            /// Whether residual DPCM is signaled in inter blocks.
            public let explicit_rdpcm_enabled_flag: Bool
            /// Whether transforms have a larger dynamic range.
            public let extended_precision_processing_flag: Bool
            /// Whether neighboring samples are not smoothed in intra prediction.
            public let intra_smoothing_disabled_flag: Bool
            /// Whether offsets of weighted prediction have the samples' precision.
            public let high_precision_offsets_enabled_flag: Bool
            /// Whether Rice parameters adapt across blocks.
            public let persistent_rice_adaptation_enabled_flag: Bool
            /// Whether bypass bins are aligned.
            public let cabac_bypass_alignment_enabled_flag: Bool
        }

        /// Reads a sequence parameter set NAL unit (type 33) of the base layer, given without start code.
        ///
        /// Bytes after the structure are ignored, as decoders do.
        public init(_ nalUnit: RawSpan) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (_, reader) = try RBSPReader.hevc(bytes) { $0 == .sequenceParameterSet }
                return try SequenceParameterSet(&reader)
            }
        }
    }
}

extension H265.SequenceParameterSet {
    /// seq_parameter_set_rbsp() (7.3.2.2.1).
    init(_ reader: inout RBSPReader) throws(SyntaxError) {
        sps_video_parameter_set_id = try reader.u(4, "sps_video_parameter_set_id")
        sps_max_sub_layers_minus1 = try reader.u(3, "sps_max_sub_layers_minus1", in: 0...6)
        sps_temporal_id_nesting_flag = try reader.flag("sps_temporal_id_nesting_flag")
        profile_tier_level = try H265.ProfileTierLevel(
            &reader, maxNumSubLayersMinus1: sps_max_sub_layers_minus1)
        sps_seq_parameter_set_id = try reader.ue("sps_seq_parameter_set_id", in: 0...15)
        try readPictureFormat(&reader)
        log2_max_pic_order_cnt_lsb_minus4 = try reader.ue("log2_max_pic_order_cnt_lsb_minus4", in: 0...12)
        subLayerOrderings = try H265.SubLayerOrdering.read(
            &reader, prefix: "sps_", maxSubLayersMinus1: sps_max_sub_layers_minus1)
        try readCodingTools(&reader)
        try readReferencePictureSets(&reader)
        sps_temporal_mvp_enabled_flag = try reader.flag("sps_temporal_mvp_enabled_flag")
        strong_intra_smoothing_enabled_flag = try reader.flag("strong_intra_smoothing_enabled_flag")
        if try reader.flag("vui_parameters_present_flag") {
            vui_parameters = try H265.VUIParameters(&reader, maxSubLayersMinus1: sps_max_sub_layers_minus1)
        }
        if try reader.flag("sps_extension_present_flag") { extensions = try readExtensions(&reader) }
    }

    private func readExtensions(_ reader: inout RBSPReader) throws(SyntaxError) -> Extensions {
        let chroma = bit_depth_chroma_minus8 + 8
        let bitDepths = [bit_depth_luma_minus8 + 8] + (chroma_format_idc == 0 ? [] : [chroma, chroma])
        return try Extensions(&reader, bitDepths: bitDepths)
    }

    private mutating func readPictureFormat(_ reader: inout RBSPReader) throws(SyntaxError) {
        chroma_format_idc = try reader.ue("chroma_format_idc", in: 0...3)
        if chroma_format_idc == 3 {
            separate_colour_plane_flag = try reader.flag("separate_colour_plane_flag")
        }
        // No level allows a side of more than 16888 samples (A.4.1); the bound here keeps products small.
        pic_width_in_luma_samples = try reader.ue("pic_width_in_luma_samples", in: 1...0xFFFF)
        pic_height_in_luma_samples = try reader.ue("pic_height_in_luma_samples", in: 1...0xFFFF)
        if try reader.flag("conformance_window_flag") {
            conformanceWindow = try H265.Window(&reader, prefix: "conf_win_")
            if width <= 0 || height <= 0 { throw reader.error("conformance_window_flag", .croppedAway) }
        }
        bit_depth_luma_minus8 = try reader.ue("bit_depth_luma_minus8", in: 0...8)
        bit_depth_chroma_minus8 = try reader.ue("bit_depth_chroma_minus8", in: 0...8)
    }

    private mutating func readCodingTools(_ reader: inout RBSPReader) throws(SyntaxError) {
        log2_min_luma_coding_block_size_minus3 = try reader.ue(
            "log2_min_luma_coding_block_size_minus3", in: 0...3)
        log2_diff_max_min_luma_coding_block_size = try reader.ue(
            "log2_diff_max_min_luma_coding_block_size", in: 0...3)
        log2_min_luma_transform_block_size_minus2 = try reader.ue(
            "log2_min_luma_transform_block_size_minus2", in: 0...3)
        log2_diff_max_min_luma_transform_block_size = try reader.ue(
            "log2_diff_max_min_luma_transform_block_size", in: 0...3)
        max_transform_hierarchy_depth_inter = try reader.ue("max_transform_hierarchy_depth_inter", in: 0...4)
        max_transform_hierarchy_depth_intra = try reader.ue("max_transform_hierarchy_depth_intra", in: 0...4)
        scaling_list_enabled_flag = try reader.flag("scaling_list_enabled_flag")
        if scaling_list_enabled_flag, try reader.flag("sps_scaling_list_data_present_flag") {
            scaling_list_data = try H265.ScalingList.readAll(&reader)
        }
        amp_enabled_flag = try reader.flag("amp_enabled_flag")
        sample_adaptive_offset_enabled_flag = try reader.flag("sample_adaptive_offset_enabled_flag")
        if try reader.flag("pcm_enabled_flag") { pcm = try PCM(&reader) }
    }

    private mutating func readReferencePictureSets(_ reader: inout RBSPReader) throws(SyntaxError) {
        for _ in 0..<(try reader.ue("num_short_term_ref_pic_sets", in: 0...64)) {
            shortTermReferencePictureSets.append(
                try H265.ShortTermReferencePictureSet(
                    &reader, after: shortTermReferencePictureSets, isInSlice: false))
        }
        long_term_ref_pics_present_flag = try reader.flag("long_term_ref_pics_present_flag")
        guard long_term_ref_pics_present_flag else { return }
        for i in 0..<(try reader.ue("num_long_term_ref_pics_sps", in: 0...32)) {
            longTermReferencePictures.append(
                LongTermReferencePicture(
                    lt_ref_pic_poc_lsb_sps: try reader.u(
                        log2_max_pic_order_cnt_lsb_minus4 + 4, "lt_ref_pic_poc_lsb_sps", i),
                    used_by_curr_pic_lt_sps_flag: try reader.flag("used_by_curr_pic_lt_sps_flag", i)))
        }
    }
}

extension H265.SequenceParameterSet.PCM {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        pcm_sample_bit_depth_luma_minus1 = try reader.u(4, "pcm_sample_bit_depth_luma_minus1")
        pcm_sample_bit_depth_chroma_minus1 = try reader.u(4, "pcm_sample_bit_depth_chroma_minus1")
        log2_min_pcm_luma_coding_block_size_minus3 = try reader.ue(
            "log2_min_pcm_luma_coding_block_size_minus3", in: 0...2)
        log2_diff_max_min_pcm_luma_coding_block_size = try reader.ue(
            "log2_diff_max_min_pcm_luma_coding_block_size", in: 0...2)
        pcm_loop_filter_disabled_flag = try reader.flag("pcm_loop_filter_disabled_flag")
    }
}

extension H265.SequenceParameterSet.Extensions {
    /// - Parameter bitDepths: bits of a sample, by component.
    fileprivate init(_ reader: inout RBSPReader, bitDepths: [Int]) throws(SyntaxError) {
        let hasRange = try reader.flag("sps_range_extension_flag")
        sps_multilayer_extension_flag = try reader.flag("sps_multilayer_extension_flag")
        sps_3d_extension_flag = try reader.flag("sps_3d_extension_flag")
        let hasScreenContent = try reader.flag("sps_scc_extension_flag")
        sps_extension_4bits = try reader.u(4, "sps_extension_4bits")
        range = hasRange ? try H265.SequenceParameterSet.RangeExtension(&reader) : nil
        let isReadable = hasScreenContent && !sps_multilayer_extension_flag && !sps_3d_extension_flag
        screenContent =
            isReadable
            ? try H265.SequenceParameterSet.ScreenContentExtension(&reader, bitDepths: bitDepths) : nil
    }
}

extension H265.SequenceParameterSet.RangeExtension {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        transform_skip_rotation_enabled_flag = try reader.flag("transform_skip_rotation_enabled_flag")
        transform_skip_context_enabled_flag = try reader.flag("transform_skip_context_enabled_flag")
        implicit_rdpcm_enabled_flag = try reader.flag("implicit_rdpcm_enabled_flag")
        explicit_rdpcm_enabled_flag = try reader.flag("explicit_rdpcm_enabled_flag")
        extended_precision_processing_flag = try reader.flag("extended_precision_processing_flag")
        intra_smoothing_disabled_flag = try reader.flag("intra_smoothing_disabled_flag")
        high_precision_offsets_enabled_flag = try reader.flag("high_precision_offsets_enabled_flag")
        persistent_rice_adaptation_enabled_flag = try reader.flag("persistent_rice_adaptation_enabled_flag")
        cabac_bypass_alignment_enabled_flag = try reader.flag("cabac_bypass_alignment_enabled_flag")
    }
}

// MARK: - Derived values

extension H265.SequenceParameterSet {
    /// `ChromaArrayType` (7.4.3.2.1): `chroma_format_idc`, or 0 if the planes are coded separately.
    public var chromaArrayType: Int { separate_colour_plane_flag ? 0 : chroma_format_idc }

    /// `SubWidthC` and `SubHeightC` (Table 6-1): luma samples per cropping step, horizontally and vertically.
    public var cropUnit: (x: Int, y: Int) {
        switch chroma_format_idc {
        case 1: (x: 2, y: 2)
        case 2: (x: 2, y: 1)
        default: (x: 1, y: 1)
        }
    }

    /// Width of the picture in luma samples, after cropping to the conformance window.
    public var width: Int {
        guard let conformanceWindow else { return pic_width_in_luma_samples }
        return pic_width_in_luma_samples
            - cropUnit.x * (conformanceWindow.left_offset + conformanceWindow.right_offset)
    }

    /// Height of the picture in luma samples, after cropping to the conformance window. If pictures are
    /// fields, this is a field's height.
    public var height: Int {
        guard let conformanceWindow else { return pic_height_in_luma_samples }
        return pic_height_in_luma_samples
            - cropUnit.y * (conformanceWindow.top_offset + conformanceWindow.bottom_offset)
    }

    /// Bits of a luma sample.
    public var bitDepth: Int { bit_depth_luma_minus8 + 8 }

    /// Whether samples use the full range; by default limited (E.3.1).
    public var isFullRange: Bool { vui_parameters?.video_full_range_flag ?? false }

    /// Side of a coding tree block in luma samples, `CtbSizeY`: 8 to 512.
    public var codingTreeBlockSize: Int {
        1 << (log2_min_luma_coding_block_size_minus3 + 3 + log2_diff_max_min_luma_coding_block_size)
    }

    /// Coding tree blocks of a picture, `PicSizeInCtbsY`.
    public var pictureSizeInCodingTreeBlocks: Int {
        let size = codingTreeBlockSize
        return ((pic_width_in_luma_samples + size - 1) / size)
            * ((pic_height_in_luma_samples + size - 1) / size)
    }

    /// Frames a second according to the VUI (E.3.1), where a picture is a tick and a frame has two pictures
    /// if pictures are fields; `nil` without a usable rate.
    public var frameRate: FrameRate? {
        guard let vui_parameters else { return nil }
        return vui_parameters.timing?.frameRate(areFields: vui_parameters.field_seq_flag)
    }

    /// Pictures a second according to the VUI, where each field of a field sequence counts as a picture;
    /// `nil` without a usable rate.
    public var pictureRate: FrameRate? { vui_parameters?.timing?.frameRate(areFields: false) }

    /// The number of pictures that may precede a picture in decoding order and follow it in output order;
    /// with 0, output order is decoding order.
    public var maxNumReorderPictures: Int { subLayerOrderings.last?.max_num_reorder_pics ?? 0 }

    /// The profile's name (A.3), such as "Main 10".
    public var profileName: String { profile_tier_level.profileName }

    /// The level's name (A.4.1), such as "4.1".
    public var levelName: String { profile_tier_level.levelName }
}

// MARK: - Cropping windows

extension H265 {
    /// A rectangle within a picture, given by what is cut off, in chroma samples (luma samples if there is no
    /// chroma). In the stream the elements' names begin with `conf_win_` (7.4.3.2.1) or `def_disp_win_`
    /// (E.3.1).
    public struct Window: Equatable, Sendable {
        /// The width of the cropped area at the left.
        public let left_offset: Int
        /// The width of the cropped area at the right.
        public let right_offset: Int
        /// The height of the cropped area at the top.
        public let top_offset: Int
        /// The height of the cropped area at the bottom.
        public let bottom_offset: Int

        init(_ reader: inout RBSPReader, prefix: String) throws(SyntaxError) {
            left_offset = try reader.ue(prefix + "left_offset")
            right_offset = try reader.ue(prefix + "right_offset")
            top_offset = try reader.ue(prefix + "top_offset")
            bottom_offset = try reader.ue(prefix + "bottom_offset")
        }
    }
}
