import CamPictures

/// Colors and pixels in the VUI of either codec (H.264 E.2.1, H.265 E.3.1).
public protocol VideoUsability {
    var aspect_ratio_idc: Int { get }
    var sar_width: Int? { get }
    var sar_height: Int? { get }
    var video_signal_type_present_flag: Bool { get }
    var video_full_range_flag: Bool { get }
    var colour_description_present_flag: Bool { get }
    var colour_primaries: Int { get }
    var transfer_characteristics: Int { get }
    /// `matrix_coefficients` of H.264, `matrix_coeffs` of H.265.
    var matrixCoefficients: Int { get }
    var chroma_sample_loc_type_top_field: Int { get }
}

extension VideoUsability {
    /// The encoding of colors; `nil` without a `video_signal_type`.
    public var colorEncoding: ColorEncoding? {
        guard video_signal_type_present_flag else { return nil }
        return ColorEncoding(
            range: video_full_range_flag ? .full : .limited,
            matrix: ColorEncoding.Matrix(rawValue: UInt8(clamping: matrixCoefficients)),
            primaries: UInt8(clamping: colour_primaries), transfer: UInt8(clamping: transfer_characteristics))
    }

    /// The pixels' shape (table E-1); `nil` if they are square, or their shape is unspecified.
    public var pixelAspect: PixelAspect? { sampleAspectRatio.flatMap { PixelAspect($0.width, $0.height) } }

    /// The samples' shape as stated, width before height (table E-1); `nil` if it is unspecified.
    public var sampleAspectRatio: (width: Int, height: Int)? {
        if let listed = VideoUsabilityTables.sampleAspectRatio(aspect_ratio_idc) { return listed }
        guard let sar_width, let sar_height, sar_width > 0, sar_height > 0 else { return nil }
        return (sar_width, sar_height)
    }
}

extension H264.VUIParameters: VideoUsability {
    public var matrixCoefficients: Int { matrix_coefficients }
}

extension H265.VUIParameters: VideoUsability {
    public var matrixCoefficients: Int { matrix_coeffs }
}

// MARK: - Tables

/// The tables of video usability information in words; both standards share the tables (H.264: E.2.1;
/// H.265: E.3.1).
public enum VideoUsabilityTables {
    /// The shape of a sample by `aspect_ratio_idc` (Table E-1), width before height; `nil` for 0
    /// (unspecified), for 255 (given by `sar_width` and `sar_height`), and for reserved values.
    public static func sampleAspectRatio(_ aspect_ratio_idc: Int) -> (width: Int, height: Int)? {
        let table = [
            (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11),
            (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
        ]
        return table.indices.contains(aspect_ratio_idc - 1) ? table[aspect_ratio_idc - 1] : nil
    }

    /// Table E-2.
    public static func videoFormat(_ video_format: Int) -> String {
        let table = ["component", "PAL", "NTSC", "SECAM", "MAC", "unspecified"]
        return table.indices.contains(video_format) ? table[video_format] : "reserved"
    }

    /// Table E-3.
    public static func colourPrimaries(_ colour_primaries: Int) -> String {
        switch colour_primaries {
        case 1: "BT.709"
        case 2: "unspecified"
        case 4: "BT.470 System M"
        case 5: "BT.601 625 lines"
        case 6: "BT.601 525 lines, SMPTE 170M"
        case 7: "SMPTE 240M"
        case 8: "generic film"
        case 9: "BT.2020"
        case 10: "SMPTE 428-1, XYZ"
        case 11: "SMPTE RP 431-2, DCI P3"
        case 12: "SMPTE EG 432-1, Display P3"
        case 22: "EBU Tech. 3213-E"
        default: "reserved"
        }
    }

    /// Table E-4.
    public static func transferCharacteristics(_ transfer_characteristics: Int) -> String {
        switch transfer_characteristics {
        case 1: "BT.709"
        case 2: "unspecified"
        case 4: "gamma 2.2"
        case 5: "gamma 2.8"
        case 6: "BT.601, SMPTE 170M"
        case 7: "SMPTE 240M"
        case 8: "linear"
        case 9: "logarithmic, 100:1"
        case 10: "logarithmic, 100√10:1"
        case 11: "IEC 61966-2-4, xvYCC"
        case 12: "BT.1361 extended gamut"
        case 13: "sRGB"
        case 14: "BT.2020, 10 bits"
        case 15: "BT.2020, 12 bits"
        case 16: "SMPTE ST 2084, PQ"
        case 17: "SMPTE ST 428-1"
        case 18: "ARIB STD-B67, HLG"
        default: "reserved"
        }
    }

    /// Table E-5.
    public static func matrixCoefficients(_ matrix_coefficients: Int) -> String {
        switch matrix_coefficients {
        case 0: "identity, GBR"
        case 1: "BT.709"
        case 2: "unspecified"
        case 4: "FCC Title 47"
        case 5: "BT.601 625 lines"
        case 6: "BT.601 525 lines, SMPTE 170M"
        case 7: "SMPTE 240M"
        case 8: "YCgCo"
        case 9: "BT.2020 non-constant luminance"
        case 10: "BT.2020 constant luminance"
        case 11: "SMPTE ST 2085"
        case 12: "derived from the primaries, non-constant luminance"
        case 13: "derived from the primaries, constant luminance"
        case 14: "BT.2100 ICtCp"
        default: "reserved"
        }
    }

    /// The location of chroma samples (Figure E-1).
    public static func chromaSampleLocation(_ chroma_sample_loc_type: Int) -> String {
        let table = ["left", "centre", "top left", "top", "bottom left", "bottom"]
        return table.indices.contains(chroma_sample_loc_type) ? table[chroma_sample_loc_type] : "reserved"
    }
}
