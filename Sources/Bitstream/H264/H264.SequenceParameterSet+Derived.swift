import CamPictures

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

    /// Frames a second according to the VUI, where a frame is two ticks (E.2.1); `nil` if it states nothing
    /// usable.
    public var frameRate: FrameRate? {
        vui_parameters?.timing.flatMap {
            FrameRate(announced: $0.time_scale, in: $0.num_units_in_tick * 2)
        }
    }

    /// Whether samples use the full range; by default limited (E.2.1).
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

    /// The level's name (Table A-1), like "1b", "3", "4.1".
    public var levelName: String {
        H264.levelName(
            level_idc, profile_idc: profile_idc, constraint_set3_flag: constraint_set3_flag)
    }

    private var isLevel1b: Bool { levelName == "1b" }

    /// The profile's name (A.2, F.10, G.10, H.10), like "Constrained Baseline", or its number if it has no
    /// name.
    public var profileName: String {
        H264.profileName(
            profile_idc, constraint_set1_flag: constraint_set1_flag,
            constraint_set3_flag: constraint_set3_flag, constraint_set4_flag: constraint_set4_flag,
            constraint_set5_flag: constraint_set5_flag)
    }
}
