import Pictures

/// Changes a band's range and matrix in place, at most one step from the exact result.
///
/// From Y′CbCr to RGB and back to another Y′CbCr is one affine map, in which luma depends on all three
/// samples, and chroma on chroma alone, because grey stays grey. A pixel's chroma is its 2×2 block's.
final class Recoloring {
    /// Bits after the point of all factors.
    private static let fractionBits: Int32 = 14
    private static let one = Double(1 << fractionBits)
    private static let half = Int32(1 << (fractionBits - 1))

    /// Y′ is `luma × Y + cbToLuma × (Cb − 128) + crToLuma × (Cr − 128) + lumaBias`.
    private let luma, cbToLuma, crToLuma: Int16
    private let lumaBias: Int32
    /// Cb′ − 128 is `cbToCb × (Cb − 128) + crToCb × (Cr − 128)`, and Cr′ likewise.
    private let cbToCb, crToCb, cbToCr, crToCr: Int16
    /// What a row of chroma adds to the luma above it: one for each luma sample.
    private let shifts: UnsafeMutablePointer<Int32>

    /// Nil if range and matrix stay the same.
    init?(from source: ColorEncoding, to target: ColorEncoding, width: Int) {
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
        luma = fixed(lumaScale)
        lumaBias = Int32((to.black - lumaScale * from.black) * Self.one) + Self.half
        crToLuma = fixed(alpha * to.luma / (2 * from.chroma))
        cbToLuma = fixed(beta * to.luma / (2 * from.chroma))
        cbToCb = fixed((blueSpan - beta) / targetBlueSpan * chromaScale)
        crToCb = fixed(-alpha / targetBlueSpan * chromaScale)
        crToCr = fixed((redSpan - alpha) / targetRedSpan * chromaScale)
        cbToCr = fixed(-beta / targetRedSpan * chromaScale)
        shifts = .allocate(capacity: width + 1)
        shifts.initialize(repeating: lumaBias, count: width + 1)
    }

    deinit { shifts.deallocate() }

    /// Planar bands only.
    func apply(to band: PictureSurface.Band) {
        guard case .separate(let cb, let cr) = band.chroma else {
            preconditionFailure("a staging band is planar")
        }
        for row in 0..<band.chromaRows {
            if cbToLuma != 0 || crToLuma != 0 {
                findShifts(cb: cb.row(row), cr: cr.row(row), count: band.chromaWidth)
            }
            for lumaRow in 2 * row..<min(2 * row + 2, band.rows) {
                changeLuma(band.luma.row(lumaRow), count: band.width)
            }
            changeChroma(cb: cb.row(row), cr: cr.row(row), count: band.chromaWidth)
        }
    }

    // The loops work on copies of the factors, because the compiler must assume that writing a sample changes
    // them. With 16-bit factors it can use the multiplications that every vector unit has.

    private func findShifts(cb: UnsafePointer<UInt8>, cr: UnsafePointer<UInt8>, count: Int) {
        let (cbToLuma, crToLuma, bias, shifts) = (cbToLuma, crToLuma, lumaBias, shifts)
        for x in 0..<count {
            let (b, r) = (Int32(cb[x]) &- 128, Int32(cr[x]) &- 128)
            let shift = b &* Int32(cbToLuma) &+ r &* Int32(crToLuma) &+ bias
            shifts[2 &* x] = shift
            shifts[2 &* x &+ 1] = shift
        }
    }

    private func changeLuma(_ samples: UnsafeMutablePointer<UInt8>, count: Int) {
        let (luma, shifts) = (luma, shifts)
        for x in 0..<count {
            samples[x] = Self.sample(Int32(samples[x]) &* Int32(luma) &+ shifts[x])
        }
    }

    private func changeChroma(
        cb: UnsafeMutablePointer<UInt8>, cr: UnsafeMutablePointer<UInt8>, count: Int
    ) {
        let (cbToCb, crToCb, cbToCr, crToCr) = (cbToCb, crToCb, cbToCr, crToCr)
        let bias = 128 << Self.fractionBits + Self.half
        for x in 0..<count {
            let (b, r) = (Int32(cb[x]) &- 128, Int32(cr[x]) &- 128)
            cb[x] = Self.sample(b &* Int32(cbToCb) &+ r &* Int32(crToCb) &+ bias)
            cr[x] = Self.sample(b &* Int32(cbToCr) &+ r &* Int32(crToCr) &+ bias)
        }
    }

    @inline(__always)
    private static func sample(_ value: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: min(max(value &>> fractionBits, 0), 255))
    }
}
