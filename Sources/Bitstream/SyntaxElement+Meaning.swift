import CamPictures
import CamPlatform

extension SyntaxElement {
    /// The meaning of the value in words, such as "High profile" or "1920 samples before cropping"; `nil`
    /// if the name and the value need no explanation.
    ///
    /// - Parameter structure: the structure of the element: some meanings depend on neighboring elements.
    public func meaning(in structure: SyntaxStructure) -> String? {
        let special =
            switch structure.codec {
            case .h264: meaningInH264(structure)
            case .hevc: meaningInH265(structure)
            }
        return special ?? pictureFormatMeaning(structure) ?? videoUsabilityMeaning(structure)
            ?? bufferingMeaning(structure) ?? messageMeaning(structure)
    }

    /// Size and samples of pictures: the elements that both standards have.
    private func pictureFormatMeaning(_ structure: SyntaxStructure) -> String? {
        switch name {
        case "forbidden_zero_bit": value == 0 ? nil : "damaged"
        case "chroma_format_idc": ["monochrome", "4:2:0", "4:2:2", "4:4:4"].element(value)
        case "separate_colour_plane_flag" where value == 1: "three planes coded apart"
        case "bit_depth_luma_minus8", "bit_depth_chroma_minus8", "bit_depth_aux_minus8":
            "\(value + 8) bits a sample"
        case "log2_max_pic_order_cnt_lsb_minus4": "modulo \(1 << (value + 4))"
        case "num_ref_idx_l0_default_active_minus1", "num_ref_idx_l1_default_active_minus1":
            Quantity.count(value + 1, "reference picture")
        case "pic_init_qp_minus26", "pic_init_qs_minus26", "init_qp_minus26":
            "quantisation parameter \(value + 26)"
        case "colour_plane_id": ["Y", "Cb", "Cr"].element(value)
        default: nil
        }
    }

    /// The elements of vui_parameters() that both standards have.
    private func videoUsabilityMeaning(_ structure: SyntaxStructure) -> String? {
        switch name {
        case "aspect_ratio_idc":
            if let ratio = VideoUsabilityTables.sampleAspectRatio(value) {
                "samples of \(ratio.width):\(ratio.height)" + (value == 1 ? ", square" : "")
            } else {
                switch value {
                case 0: "unspecified"
                case 255: "sar_width to sar_height"
                default: "reserved"
                }
            }
        case "overscan_appropriate_flag": value == 1 ? "may be overscanned" : "not to be overscanned"
        case "video_format": VideoUsabilityTables.videoFormat(value)
        case "video_full_range_flag": value == 1 ? "full range" : "limited range"
        case "colour_primaries": VideoUsabilityTables.colourPrimaries(value)
        case "transfer_characteristics", "preferred_transfer_characteristics":
            VideoUsabilityTables.transferCharacteristics(value)
        case "matrix_coefficients", "matrix_coeffs": VideoUsabilityTables.matrixCoefficients(value)
        case "chroma_sample_loc_type_top_field", "chroma_sample_loc_type_bottom_field":
            VideoUsabilityTables.chromaSampleLocation(value)
        case "max_bytes_per_pic_denom", "max_bits_per_mb_denom", "max_bits_per_min_cu_denom":
            value == 0 ? "no limit" : "at most the uncompressed size / \(value)"
        case "log2_max_mv_length_horizontal", "log2_max_mv_length_vertical":
            value < 2 ? nil : Quantity.count(1 << (min(value, 32) - 2), "sample") + " at most"
        default: nil
        }
    }

    /// The elements of hrd_parameters() that both standards have.
    private func bufferingMeaning(_ structure: SyntaxStructure) -> String? {
        switch name {
        case "bit_rate_value_minus1":
            structure["bit_rate_scale"].map { "\((value + 1) << (6 + $0)) bits a second" }
        case "cpb_size_value_minus1":
            structure["cpb_size_scale"].map { "\((value + 1) << (4 + $0)) bits" }
        case "cbr_flag": value == 1 ? "constant bit rate" : "variable bit rate"
        case "cpb_cnt_minus1": Quantity.count(value + 1, "schedule")
        case _ where name.hasSuffix("_length_minus1"): Quantity.count(value + 1, "bit")
        case "time_offset_length": Quantity.count(value, "bit")
        default: nil
        }
    }

    /// Supplemental enhancement information.
    private func messageMeaning(_ structure: SyntaxStructure) -> String? {
        switch name {
        case "last_payload_type_byte": payloadName(structure)
        case "itu_t_t35_country_code": value == 181 ? "United States" : nil
        case "exact_match_flag": value == 1 ? "exactly right" : "approximately right"
        case "broken_link_flag" where value == 1: "references may be missing"
        case "pic_struct": pictureStructure
        default: nil
        }
    }

    /// The name of the payload type that ends with this byte.
    private func payloadName(_ structure: SyntaxStructure) -> String? {
        let before = structure.elements.last { $0.bitOffset < bitOffset }
        // Types from 255 on have no names.
        guard before?.name != "ff_byte" else { return nil }
        return SEIMessage.name(ofPayloadType: value, codec: structure.codec)
    }

    /// H.264 Table D-1, H.265 Table D.2.
    private var pictureStructure: String? {
        [
            "frame", "top field", "bottom field", "top field, bottom field", "bottom field, top field",
            "top field, bottom field, top field again", "bottom field, top field, bottom field again",
            "frame doubling", "frame tripling", "top field paired with the bottom field before",
            "bottom field paired with the top field before", "top field paired with the bottom field after",
            "bottom field paired with the top field after",
        ].element(value)
    }
}

// MARK: - H.264

extension SyntaxElement {
    /// The meaning of elements that only H.264 has, or defines differently than H.265.
    func meaningInH264(_ structure: SyntaxStructure) -> String? {
        h264HeaderMeaning ?? h264ProfileMeaning(structure) ?? h264SequenceMeaning(structure)
            ?? h264PictureMeaning ?? h264SliceMeaning ?? h264MessageMeaning
    }

    private var h264HeaderMeaning: String? {
        switch name {
        case "nal_unit_type": H264.NALUnitType(rawValue: UInt8(truncatingIfNeeded: value))?.description
        case "nal_ref_idc": value == 0 ? "not for reference" : "for reference"
        case "primary_pic_type":
            [
                "I slices", "I and P slices", "I, P and B slices", "SI slices", "SI and SP slices",
                "I and SI slices", "I, SI, P and SP slices", "slices of any type",
            ].element(value)
        default: nil
        }
    }

    private func h264ProfileMeaning(_ structure: SyntaxStructure) -> String? {
        func isSet(_ flag: Int) -> Bool { structure["constraint_set\(flag)_flag"] == 1 }
        // Looked up only on demand: a lookup for each element of a large set would take minutes.
        var profile: Int { structure["profile_idc"] ?? 0 }
        switch name {
        case "profile_idc":
            return H264.profileName(
                value, constraint_set1_flag: isSet(1), constraint_set3_flag: isSet(3),
                constraint_set4_flag: isSet(4), constraint_set5_flag: isSet(5)) + " profile"
        case "level_idc":
            return "level "
                + H264.levelName(value, profile_idc: profile, constraint_set3_flag: isSet(3))
        case "constraint_set0_flag" where value == 1: return "obeys the Baseline profile"
        case "constraint_set1_flag" where value == 1: return "obeys the Main profile"
        case "constraint_set2_flag" where value == 1: return "obeys the Extended profile"
        case "constraint_set3_flag" where value == 1:
            return [66, 77, 88].contains(profile) ? "level 1b where level_idc is 11" : "intra pictures only"
        case "constraint_set4_flag" where value == 1: return "frames only"
        case "constraint_set5_flag" where value == 1: return "no B slices"
        default: return nil
        }
    }

    private func h264SequenceMeaning(_ structure: SyntaxStructure) -> String? {
        var fields: Int { structure["frame_mbs_only_flag"] == 0 ? 2 : 1 }
        switch name {
        case "log2_max_frame_num_minus4": return "modulo \(1 << (value + 4))"
        case "pic_order_cnt_type":
            return [
                "output order is in slice headers", "output order follows a cycle",
                "output order is decoding order",
            ].element(value)
        case "pic_width_in_mbs_minus1": return "\((value + 1) * 16) samples before cropping"
        case "pic_height_in_map_units_minus1": return "\((value + 1) * 16 * fields) lines before cropping"
        case "frame_mbs_only_flag": return value == 1 ? "frames only" : "frames and fields"
        case "mb_adaptive_frame_field_flag" where value == 1: return "MBAFF"
        case "frame_crop_left_offset", "frame_crop_right_offset":
            return value == 0 ? nil : Quantity.count(value * chromaStep(structure).x, "sample")
        case "frame_crop_top_offset", "frame_crop_bottom_offset":
            return value == 0 ? nil : Quantity.count(value * chromaStep(structure).y * fields, "line")
        case "seq_scaling_list_present_flag", "pic_scaling_list_present_flag":
            return value == 0 ? "fall-back rule" : nil
        case "time_scale":
            return frameRate(ticksPerFrame: 2, structure["num_units_in_tick"])
        case "fixed_frame_rate_flag": return value == 1 ? "constant frame rate" : "the frame rate may vary"
        case "max_num_reorder_frames" where value == 0: return "output order is decoding order"
        case "aux_format_idc":
            return ["none", "alpha, not multiplied", "alpha, multiplied", "unspecified"].element(value)
        default: return nil
        }
    }

    private var h264PictureMeaning: String? {
        switch name {
        case "entropy_coding_mode_flag": value == 1 ? "CABAC" : "CAVLC"
        case "num_slice_groups_minus1": Quantity.count(value + 1, "slice group")
        case "slice_group_map_type":
            ["interleaved", "dispersed", "foreground", "box-out", "raster scan", "wipe", "explicit"]
                .element(value)
        case "weighted_bipred_idc": ["default", "explicit", "implicit"].element(value)
        default: nil
        }
    }

    private var h264SliceMeaning: String? {
        switch name {
        case "first_mb_in_slice": value == 0 ? "first slice of the picture" : nil
        case "slice_type":
            ["P", "B", "I", "SP", "SI"].element(value % 5).map {
                value < 5 ? $0 : $0 + ", as all slices of the picture"
            }
        case "field_pic_flag": value == 1 ? "field" : "frame"
        case "bottom_field_flag": value == 1 ? "bottom field" : "top field"
        case "redundant_pic_cnt": value == 0 ? "primary picture" : "redundant picture"
        default: nil
        }
    }

    private var h264MessageMeaning: String? {
        switch name {
        case "ct_type": ["progressive", "interlaced", "unknown"].element(value)
        case "recovery_frame_cnt":
            value == 0 ? "right at once" : "right after \(Quantity.count(value, "frame"))"
        default: nil
        }
    }

    /// `SubWidthC` and `SubHeightC` (Table 6-1) by neighboring elements.
    func chromaStep(_ structure: SyntaxStructure) -> (x: Int, y: Int) {
        guard structure["separate_colour_plane_flag"] != 1 else { return (1, 1) }
        return switch structure["chroma_format_idc"] ?? 1 {
        case 1: (2, 2)
        case 2: (2, 1)
        default: (1, 1)
        }
    }

    /// The frame rate for a value that counts clock units in a second.
    func frameRate(ticksPerFrame: Int, _ unitsInTick: Int?) -> String? {
        guard let rate = FrameRate(announced: value, in: (unitsInTick ?? 0) * ticksPerFrame) else {
            return nil
        }
        let fraction = rate.denominator == 1 ? "\(rate.numerator)" : "\(rate.numerator)/\(rate.denominator)"
        return fraction + " frames a second"
    }
}

// MARK: - H.265

extension SyntaxElement {
    /// The meaning of elements that only H.265 has, or defines differently than H.264.
    func meaningInH265(_ structure: SyntaxStructure) -> String? {
        h265HeaderMeaning ?? h265ProfileMeaning(structure) ?? h265SequenceMeaning(structure)
            ?? h265BlockMeaning(structure) ?? h265PictureMeaning ?? h265SliceMeaning
    }

    private var h265HeaderMeaning: String? {
        switch name {
        case "nal_unit_type":
            H265.NALUnitType(rawValue: UInt8(truncatingIfNeeded: value)).map { "\($0.name), \($0)" }
        case "nuh_layer_id": value == 0 ? "base layer" : nil
        case "nuh_temporal_id_plus1": value == 0 ? "forbidden" : "temporal sub-layer \(value - 1)"
        case "pic_type": ["I slices", "P and I slices", "B, P and I slices"].element(value)
        default: nil
        }
    }

    private func h265ProfileMeaning(_ structure: SyntaxStructure) -> String? {
        switch name {
        case "general_profile_idc":
            H265.ProfileTierLevel.profileName(in: structure) + " profile"
        case "sub_layer_profile_idc": H265.ProfileTierLevel.Profile.family(value)
        case "general_profile_compatibility_flag", "sub_layer_profile_compatibility_flag":
            value == 1 ? subscripts.last.flatMap(H265.ProfileTierLevel.Profile.family) : nil
        case "general_tier_flag", "sub_layer_tier_flag": value == 1 ? "High tier" : "Main tier"
        case "general_level_idc", "sub_layer_level_idc":
            "level " + H265.ProfileTierLevel.levelName(value)
        case "general_progressive_source_flag" where value == 1: "progressive source"
        case "general_interlaced_source_flag" where value == 1: "interlaced source"
        case "general_frame_only_constraint_flag" where value == 1: "pictures are frames"
        default: nil
        }
    }

    private func h265SequenceMeaning(_ structure: SyntaxStructure) -> String? {
        switch name {
        case "vps_max_sub_layers_minus1", "sps_max_sub_layers_minus1": Quantity.count(value + 1, "sub-layer")
        case "vps_max_layers_minus1": Quantity.count(value + 1, "layer")
        case "pic_width_in_luma_samples": "\(value) samples before cropping"
        case "pic_height_in_luma_samples": "\(value) lines before cropping"
        case "conf_win_left_offset", "conf_win_right_offset", "def_disp_win_left_offset",
            "def_disp_win_right_offset":
            value == 0 ? nil : Quantity.count(value * chromaStep(structure).x, "sample")
        case "conf_win_top_offset", "conf_win_bottom_offset", "def_disp_win_top_offset",
            "def_disp_win_bottom_offset":
            value == 0 ? nil : Quantity.count(value * chromaStep(structure).y, "line")
        case "vps_max_dec_pic_buffering_minus1", "sps_max_dec_pic_buffering_minus1":
            Quantity.count(value + 1, "picture buffer")
        case "vps_max_num_reorder_pics", "sps_max_num_reorder_pics":
            value == 0 ? "output order is decoding order" : nil
        case "vps_max_latency_increase_plus1", "sps_max_latency_increase_plus1":
            value == 0 ? "no limit" : nil
        case "field_seq_flag": value == 1 ? "pictures are fields" : "pictures are frames"
        case "vui_time_scale":
            frameRate(
                ticksPerFrame: structure["field_seq_flag"] == 1 ? 2 : 1, structure["vui_num_units_in_tick"])
        case "vps_time_scale": frameRate(ticksPerFrame: 1, structure["vps_num_units_in_tick"])
        case "elemental_duration_in_tc_minus1": Quantity.count(value + 1, "clock tick")
        default: nil
        }
    }

    private func h265BlockMeaning(_ structure: SyntaxStructure) -> String? {
        switch name {
        case "log2_min_luma_coding_block_size_minus3": square(value + 3)
        case "log2_diff_max_min_luma_coding_block_size":
            structure["log2_min_luma_coding_block_size_minus3"].map {
                square($0 + 3 + value) + ", the coding tree block"
            }
        case "log2_min_luma_transform_block_size_minus2": square(value + 2)
        case "log2_diff_max_min_luma_transform_block_size":
            structure["log2_min_luma_transform_block_size_minus2"].map { square($0 + 2 + value) }
        case "log2_min_pcm_luma_coding_block_size_minus3": square(value + 3)
        case "log2_diff_max_min_pcm_luma_coding_block_size":
            structure["log2_min_pcm_luma_coding_block_size_minus3"].map { square($0 + 3 + value) }
        case "log2_parallel_merge_level_minus2": square(value + 2)
        case "log2_max_transform_skip_block_size_minus2": square(value + 2)
        case "pcm_sample_bit_depth_luma_minus1", "pcm_sample_bit_depth_chroma_minus1":
            Quantity.count(value + 1, "bit") + " a sample"
        case "scaling_list_pred_mode_flag": value == 1 ? "explicit" : "copied"
        case "scaling_list_pred_matrix_id_delta" where value == 0: "default list"
        default: nil
        }
    }

    private func square(_ log2: Int) -> String {
        let side = 1 << min(max(log2, 0), 32)
        return "\(side)x\(side) samples"
    }

    private var h265PictureMeaning: String? {
        switch name {
        case "num_tile_columns_minus1": Quantity.count(value + 1, "column")
        case "num_tile_rows_minus1": Quantity.count(value + 1, "row")
        case "column_width_minus1", "row_height_minus1": Quantity.count(value + 1, "coding tree block")
        case "entropy_coding_sync_enabled_flag" where value == 1: "wavefronts"
        case "vps_extension_flag", "sps_multilayer_extension_flag", "sps_3d_extension_flag",
            "sps_scc_extension_flag", "sps_extension_4bits", "pps_multilayer_extension_flag",
            "pps_3d_extension_flag", "pps_scc_extension_flag", "pps_extension_4bits":
            value == 0 ? nil : "an extension that is not read"
        default: nil
        }
    }

    private var h265SliceMeaning: String? {
        switch name {
        case "first_slice_segment_in_pic_flag": value == 1 ? "first slice of the picture" : nil
        case "slice_type": ["B", "P", "I"].element(value)
        case "source_scan_type": ["interlaced", "progressive", "unspecified", "reserved"].element(value)
        case "recovery_poc_cnt" where value == 0: "right at once"
        default: nil
        }
    }
}

extension H265.ProfileTierLevel {
    /// The name of the profile, from the elements of a parameter set.
    fileprivate static func profileName(in structure: SyntaxStructure) -> String {
        func isSet(_ name: String) -> Bool { structure["general_" + name] == 1 }
        let constraints = Constraints(
            max_12bit_constraint_flag: isSet("max_12bit_constraint_flag"),
            max_10bit_constraint_flag: isSet("max_10bit_constraint_flag"),
            max_8bit_constraint_flag: isSet("max_8bit_constraint_flag"),
            max_422chroma_constraint_flag: isSet("max_422chroma_constraint_flag"),
            max_420chroma_constraint_flag: isSet("max_420chroma_constraint_flag"),
            max_monochrome_constraint_flag: isSet("max_monochrome_constraint_flag"),
            intra_constraint_flag: isSet("intra_constraint_flag"),
            lower_bit_rate_constraint_flag: isSet("lower_bit_rate_constraint_flag"),
            max_14bit_constraint_flag: isSet("max_14bit_constraint_flag"))
        return Profile.name(
            structure["general_profile_idc"] ?? 0,
            structure["general_max_12bit_constraint_flag"] == nil ? nil : constraints,
            one_picture_only_constraint_flag: isSet("one_picture_only_constraint_flag"))
    }
}

// MARK: - Lookup in tables of words

extension Array {
    /// The element at an index that may be out of range.
    func element(_ index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
