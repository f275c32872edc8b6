/// Where the chroma samples of a 4:2:0 picture are, by the code points of H.264 and H.265 (figure E-1).
public enum ChromaSiting: UInt8, Sendable, Hashable {
    /// Level with the left of two luma samples, between two rows: MPEG-2 and everything since.
    case left = 0
    /// In the middle of four luma samples: JPEG, and averages over four pixels.
    case center = 1
    /// On the upper left luma sample.
    case topLeft = 2
    /// Above the middle of two luma samples, level with the upper row.
    case top = 3
    /// On the lower left luma sample.
    case bottomLeft = 4
    /// Below the middle of two luma samples, level with the lower row.
    case bottom = 5

    /// Half luma samples to the right of the upper left one, and below it.
    package var offset: (x: Int, y: Int) {
        switch self {
        case .left: (0, 1)
        case .center: (1, 1)
        case .topLeft: (0, 0)
        case .top: (1, 0)
        case .bottomLeft: (0, 2)
        case .bottom: (1, 2)
        }
    }

    /// The siting with this offset. No code point puts chroma on the right: the nearest is the middle.
    package init(x: Int, y: Int) {
        switch (x, y) {
        case (0, 0): self = .topLeft
        case (0, 2): self = .bottomLeft
        case (0, _): self = .left
        case (_, 0): self = .top
        case (_, 2): self = .bottom
        default: self = .center
        }
    }
}

extension PixelFormat {
    /// Where chroma is in the 4:2:0 pictures converted from this format, if the source does not say
    /// otherwise: JFIF places chroma between pixels, video level with them; pixels that each have chroma are
    /// averaged.
    package var chromaSiting: ChromaSiting {
        switch arrangement {
        case .jpeg, .rgb, .vendor, .planar(1, _, _), .semiPlanar(1, _, _): .center
        case .semiPlanar, .planar, .packed422, .grey, .h264: .left
        }
    }
}
