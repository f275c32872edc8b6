extension H264.SequenceParameterSet {
    /// Width of a coded frame in luma samples, before cropping: a multiple of 16.
    public var codedWidth: Int { (pic_width_in_mbs_minus1 + 1) * 16 }

    /// Height of a coded frame in luma samples, before cropping: a multiple of 16.
    public var codedHeight: Int {
        (pic_height_in_map_units_minus1 + 1) * 16 * (frame_mbs_only_flag ? 1 : 2)
    }

    /// `ChromaArrayType` (7.4.2.1.1): `chroma_format_idc`, or 0 where the planes are coded apart.
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

    /// Frames a second as the VUI gives it, a frame being two ticks (E.2.1); `nil` where it says nothing of
    /// use.
    public var frameRate: NominalFrameRate? {
        vui_parameters?.timing.flatMap {
            NominalFrameRate($0.time_scale, in: $0.num_units_in_tick * 2)
        }
    }

    /// Whether samples use the full range; E.2.1 infers the limited one where nothing is said.
    public var isFullRange: Bool { vui_parameters?.video_full_range_flag ?? false }

    /// How many frames may precede another in decoding order and follow it in output order, from the VUI or
    /// as E.2.1 infers it: 0 means that output order is decoding order.
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

    private var isLevel1b: Bool {
        switch profile_idc {
        case 66, 77, 88: level_idc == 11 && constraint_set3_flag
        default: level_idc == 9
        }
    }

    /// The level's name (Table A-1), like "1b", "3", "4.1".
    public var levelName: String {
        if isLevel1b { return "1b" }
        return level_idc % 10 == 0 ? "\(level_idc / 10)" : "\(level_idc / 10).\(level_idc % 10)"
    }

    /// The profile's name (A.2, F.10, G.10, H.10), like "Constrained Baseline", or its number where it has
    /// none.
    public var profileName: String {
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
