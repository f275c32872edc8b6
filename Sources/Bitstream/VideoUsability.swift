import CamPictures

/// What the VUI of either codec says of colours and pixels (H.264 E.2.1, H.265 E.3.1).
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
    /// The encoding of colours; `nil` without a `video_signal_type`.
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
