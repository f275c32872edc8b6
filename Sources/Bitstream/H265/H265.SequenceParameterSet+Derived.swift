import CamPictures

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

    /// Frames a second according to the VUI (E.3.1): a tick is a picture, and if pictures are fields, a frame
    /// is two; `nil` if it states nothing usable.
    public var frameRate: FrameRate? {
        guard let vui_parameters else { return nil }
        return vui_parameters.timing?.frameRate(areFields: vui_parameters.field_seq_flag)
    }

    /// Pictures a second according to the VUI, where each field of a field sequence counts as a picture;
    /// `nil` if it states nothing usable.
    public var pictureRate: FrameRate? { vui_parameters?.timing?.frameRate(areFields: false) }

    /// How many pictures may precede another in decoding order and follow it in output order: 0 means that
    /// output order is decoding order.
    public var maxNumReorderPictures: Int { subLayerOrderings.last?.max_num_reorder_pics ?? 0 }

    /// The profile's name (A.3), such as "Main 10".
    public var profileName: String { profile_tier_level.profileName }

    /// The level's name (A.4.1), such as "4.1".
    public var levelName: String { profile_tier_level.levelName }
}

extension H265.TimingInformation {
    /// Frames a second, for pictures that are frames or fields; `nil` if the elements are unusable.
    func frameRate(areFields: Bool) -> FrameRate? {
        FrameRate(announced: time_scale, in: num_units_in_tick * (areFields ? 2 : 1))
    }
}

extension H265.VideoParameterSet {
    /// Pictures a second, which in field sequences are fields; `nil` if nothing usable is stated.
    public var pictureRate: FrameRate? { timing?.frameRate(areFields: false) }
}
