import Capture

/// Changes a band's range and matrix in place.
///
/// From Y′CbCr to RGB and back is one affine map: luma depends on all three samples, chroma on chroma
/// alone, because grey stays grey. A pixel's chroma is that of its 2×2 block.
struct Recoloring {
    /// Nil where range and matrix stay the same.
    init?(from: ColorEncoding, to: ColorEncoding) {
        if from.range == to.range && from.matrix == to.matrix { return nil }
    }

    func apply(to band: PictureSurface.Band) {
    }
}
