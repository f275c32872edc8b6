import CColor
import CamPictures

/// Changes a band's range and matrix, at most one step from the exact result.
///
/// From Y′CbCr to RGB and back to another Y′CbCr is one affine map, in which luma depends on all three
/// samples, and chroma on chroma alone, because grey stays grey. A pixel's chroma is its 2×2 block's.
struct Recoloring {
    /// The factors' 1.
    private static let one = Double(1 << 14)

    private var change: color_change

    /// Nil if range and matrix stay the same.
    init?(from source: ColorEncoding, to target: ColorEncoding) {
        guard source.range != target.range || source.matrix != target.matrix else { return nil }
        let (from, to) = (source.range.levels, target.range.levels)
        let (red, blue) = source.matrix.weights
        let (targetRed, targetBlue) = target.matrix.weights
        let (green, targetGreen) = (1 - red - blue, 1 - targetRed - targetBlue)
        // With Y in 0 … 1 and Pb, Pr in −½ … ½: R = Y + 2(1 − Kr) Pr, B = Y + 2(1 − Kb) Pb, and G follows
        // from Y = Kr R + Kg G + Kb B. Put into the target's Y that leaves Y + α Pr + β Pb.
        let (redSpan, blueSpan) = (2 * (1 - red), 2 * (1 - blue))
        let alpha = redSpan * (targetRed - targetGreen * red / green)
        let beta = blueSpan * (targetBlue - targetGreen * blue / green)
        let (targetRedSpan, targetBlueSpan) = (2 * (1 - targetRed), 2 * (1 - targetBlue))
        let (lumaScale, chromaScale) = (to.luma / from.luma, to.chroma / from.chroma)

        /// All factors are below 2.
        func fixed(_ value: Double) -> Int16 { Int16((value * Self.one).rounded()) }
        change = color_change(
            luma: fixed(lumaScale), cb_to_luma: fixed(beta * to.luma / (2 * from.chroma)),
            cr_to_luma: fixed(alpha * to.luma / (2 * from.chroma)),
            black: UInt8(from.black), new_black: UInt8(to.black),
            cb_to_cb: fixed((blueSpan - beta) / targetBlueSpan * chromaScale),
            cr_to_cb: fixed(-alpha / targetBlueSpan * chromaScale),
            cb_to_cr: fixed(-beta / targetRedSpan * chromaScale),
            cr_to_cr: fixed((redSpan - alpha) / targetRedSpan * chromaScale))
    }

    /// - Parameters:
    ///   - source: a planar band.
    ///   - result: one of the same size, or the same one.
    mutating func apply(to source: PictureSurface.Band, into result: PictureSurface.Band) {
        guard case .separate(let cb, let cr) = source.chroma else {
            preconditionFailure("a staging band is planar")
        }
        for pair in 0..<source.chromaRows {
            let upper = 2 * pair
            // The last row of an odd number stands for both.
            let lower = min(upper + 1, source.rows - 1)
            color_change_rows(
                &change,
                color_planes(
                    upper: source.luma.row(upper), lower: source.luma.row(lower), cb: cb.row(pair),
                    cr: cr.row(pair)), Int32(source.width), result.target(upper: upper, lower: lower))
        }
    }
}
