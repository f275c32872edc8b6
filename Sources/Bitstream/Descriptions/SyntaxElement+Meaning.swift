extension SyntaxElement {
    /// What the value means, in words, such as "High profile" or "1920 samples before cropping"; `nil` if
    /// the name and the value say it all.
    ///
    /// - Parameter structure: the element's structure: some meanings depend on neighbouring elements.
    public func meaning(in structure: SyntaxStructure) -> String? {
        let special =
            switch structure.codec {
            case .h264: meaningInH264(structure)
            case .hevc: meaningInH265(structure)
            }
        return special ?? pictureFormatMeaning(structure) ?? videoUsabilityMeaning(structure)
            ?? bufferingMeaning(structure) ?? messageMeaning(structure)
    }

    /// The size and the samples of pictures, as far as both standards have the same elements.
    private func pictureFormatMeaning(_ structure: SyntaxStructure) -> String? {
        switch name {
        case "forbidden_zero_bit": value == 0 ? nil : "damaged"
        case "chroma_format_idc": ["monochrome", "4:2:0", "4:2:2", "4:4:4"].element(value)
        case "separate_colour_plane_flag" where value == 1: "three planes coded apart"
        case "bit_depth_luma_minus8", "bit_depth_chroma_minus8", "bit_depth_aux_minus8":
            "\(value + 8) bits a sample"
        case "log2_max_pic_order_cnt_lsb_minus4": "modulo \(1 << (value + 4))"
        case "num_ref_idx_l0_default_active_minus1", "num_ref_idx_l1_default_active_minus1":
            count(value + 1, "reference picture")
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
            value < 2 ? nil : count(1 << (min(value, 32) - 2), "sample") + " at most"
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
        case "cpb_cnt_minus1": count(value + 1, "schedule")
        case _ where name.hasSuffix("_length_minus1"): count(value + 1, "bit")
        case "time_offset_length": count(value, "bit")
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

    /// "1 bit", "2 bits".
    func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
