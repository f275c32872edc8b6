import CamPictures

extension SyntaxElement {
    /// What the value means, if only H.264 has the element or gives it a different meaning than H.265.
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
        // Looked up only if needed: a lookup for each element of a large set would take minutes.
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
            return value == 0 ? nil : count(value * chromaStep(structure).x, "sample")
        case "frame_crop_top_offset", "frame_crop_bottom_offset":
            return value == 0 ? nil : count(value * chromaStep(structure).y * fields, "line")
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
        case "num_slice_groups_minus1": count(value + 1, "slice group")
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
        case "recovery_frame_cnt": value == 0 ? "right at once" : "right after \(count(value, "frame"))"
        default: nil
        }
    }

    /// `SubWidthC` and `SubHeightC` (Table 6-1) by neighbouring elements.
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
