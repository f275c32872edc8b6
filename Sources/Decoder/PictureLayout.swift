import CFFmpeg

/// How a picture's samples lie in memory, 8 bits each.
public enum PictureLayout: String, Sendable, CaseIterable {
    /// Three planes: luma, and both chroma at half the width and height, rounded up.
    case yuv420p
    /// Two planes: luma, and interleaved chroma at half the width and height, rounded up.
    case nv12
    /// One plane: blue, green, red and an opaque alpha.
    case bgra
    /// One plane: red, green and blue, 3 bytes a pixel.
    case rgb24

    /// The number of planes.
    public var planeCount: Int {
        switch self {
        case .yuv420p: 3
        case .nv12: 2
        case .bgra, .rgb24: 1
        }
    }

    /// How many rows a plane has, and how many bytes of samples each.
    public func planeSize(_ plane: Int, width: Int, height: Int) -> (rowByteCount: Int, rowCount: Int) {
        let (halfWidth, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
        return switch (self, plane) {
        case (.bgra, _): (width * 4, height)
        case (.rgb24, _): (width * 3, height)
        case (_, 0): (width, height)
        case (.yuv420p, _): (halfWidth, halfHeight)
        case (.nv12, _): (halfWidth * 2, halfHeight)
        }
    }
}

extension PictureLayout {
    /// Whether samples are red, green and blue.
    public var isRGB: Bool { self == .bgra || self == .rgb24 }

    /// Nil for all other formats. The J formats are the same in memory, with samples of the full range.
    init?(_ format: AVPixelFormat) {
        switch format {
        case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P: self = .yuv420p
        case AV_PIX_FMT_NV12: self = .nv12
        case AV_PIX_FMT_BGRA: self = .bgra
        case AV_PIX_FMT_RGB24: self = .rgb24
        default: return nil
        }
    }

    var format: AVPixelFormat {
        switch self {
        case .yuv420p: AV_PIX_FMT_YUV420P
        case .nv12: AV_PIX_FMT_NV12
        case .bgra: AV_PIX_FMT_BGRA
        case .rgb24: AV_PIX_FMT_RGB24
        }
    }
}
