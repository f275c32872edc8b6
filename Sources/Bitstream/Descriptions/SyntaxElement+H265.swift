extension SyntaxElement {
    /// What the value means, if only H.265 has the element or gives it a different meaning than H.264.
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
        case "vps_max_sub_layers_minus1", "sps_max_sub_layers_minus1": count(value + 1, "sub-layer")
        case "vps_max_layers_minus1": count(value + 1, "layer")
        case "pic_width_in_luma_samples": "\(value) samples before cropping"
        case "pic_height_in_luma_samples": "\(value) lines before cropping"
        case "conf_win_left_offset", "conf_win_right_offset", "def_disp_win_left_offset",
            "def_disp_win_right_offset":
            value == 0 ? nil : count(value * chromaStep(structure).x, "sample")
        case "conf_win_top_offset", "conf_win_bottom_offset", "def_disp_win_top_offset",
            "def_disp_win_bottom_offset":
            value == 0 ? nil : count(value * chromaStep(structure).y, "line")
        case "vps_max_dec_pic_buffering_minus1", "sps_max_dec_pic_buffering_minus1":
            count(value + 1, "picture buffer")
        case "vps_max_num_reorder_pics", "sps_max_num_reorder_pics":
            value == 0 ? "output order is decoding order" : nil
        case "vps_max_latency_increase_plus1", "sps_max_latency_increase_plus1":
            value == 0 ? "no limit" : nil
        case "field_seq_flag": value == 1 ? "pictures are fields" : "pictures are frames"
        case "vui_time_scale":
            frameRate(
                ticksPerFrame: structure["field_seq_flag"] == 1 ? 2 : 1, structure["vui_num_units_in_tick"])
        case "vps_time_scale": frameRate(ticksPerFrame: 1, structure["vps_num_units_in_tick"])
        case "elemental_duration_in_tc_minus1": count(value + 1, "clock tick")
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
            count(value + 1, "bit") + " a sample"
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
        case "num_tile_columns_minus1": count(value + 1, "column")
        case "num_tile_rows_minus1": count(value + 1, "row")
        case "column_width_minus1", "row_height_minus1": count(value + 1, "coding tree block")
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
    /// The name of the profile by the elements of a parameter set.
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
