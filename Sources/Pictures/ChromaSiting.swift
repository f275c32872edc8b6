/// Where the chroma samples of a 4:2:0 picture are, by the code points of H.264 and H.265 (figure E-1).
public enum ChromaSiting: UInt8, Sendable, Hashable {
    /// Level with the left of two luma samples, between two rows: MPEG-2 and everything since.
    case left = 0
    /// In the middle of four luma samples: JPEG, and averages over four pixels.
    case center = 1
    /// On the upper left luma sample.
    case topLeft = 2
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
