import CYUV
import CamPictures

/// Changes a band's range and matrix, at most one step from the exact result.
///
/// The conversion from Y′CbCr to RGB and back to another Y′CbCr is one affine map. The new luma depends on
/// all three samples, the new chroma on chroma alone, because gray stays gray. Each pixel has the chroma of
/// its 2×2 block.
struct Recoloring {
    /// The fixed-point value of a factor of 1.
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
        // from Y = Kr R + Kg G + Kb B. Substituted into the target's Y, this gives Y + α Pr + β Pb.
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
    ///   - result: a band of the same size; may be `source`.
    mutating func apply(to source: PictureSurface.Band, into result: PictureSurface.Band) {
        guard case .separate(let cb, let cr) = source.chroma else {
            preconditionFailure("a staging band is planar")
        }
        for pair in 0..<source.chromaRows {
            let upper = 2 * pair
            // In a band with an odd number of rows, the last row counts twice.
            let lower = min(upper + 1, source.rows - 1)
            color_change_rows(
                &change,
                color_planes(
                    upper: source.luma.row(upper), lower: source.luma.row(lower), cb: cb.row(pair),
                    cr: cr.row(pair)), Int32(source.width), result.target(upper: upper, lower: lower))
        }
    }
}

// MARK: - From RGB

/// Converts RGB of three or four bytes a pixel directly to the target encoding, with 15-bit coefficients: at
/// most one step from the exact result. Chroma is computed from the mean color of each 2×2 block.
final class RGBReader: PictureReader {
    private let width: Int
    private let bytesPerPixel: Int
    private let green: Int
    private var conversion: color_rgb
    private let unit = color_best_unit()

    init(
        width: Int, bytesPerPixel: Int, offsets: (red: Int, green: Int, blue: Int), color: ColorEncoding
    ) {
        self.width = width
        (self.bytesPerPixel, green) = (bytesPerPixel, offsets.green)
        let (red, blue) = color.matrix.weights
        let levels = color.range.levels
        let lumaScale = levels.luma / 255
        let chromaScale = levels.chroma / 255
        conversion = color_rgb(
            layout: color_layout(
                bytes_per_pixel: Int32(bytesPerPixel), red: Int32(offsets.red), green: Int32(offsets.green),
                blue: Int32(offsets.blue)),
            luma: color_weights(red * lumaScale, blue * lumaScale, sum: lumaScale, offset: levels.black),
            cb: color_weights(-red / (1 - blue) * chromaScale, chromaScale, sum: 0, offset: 128),
            cr: color_weights(chromaScale, -blue / (1 - red) * chromaScale, sum: 0, offset: 128))
    }

    var writesWantedColor: Bool { true }

    func luma(_ rows: Range<Int>, in source: borrowing SourceBand) -> LumaRows {
        LumaRows(source.plane(0), offset: green, step: bytesPerPixel)
    }

    func read(_ rows: Range<Int>, from source: borrowing SourceBand, into band: PictureSurface.Band) {
        let source = source.plane(0)
        for pair in 0..<band.chromaRows {
            let upper = 2 * pair
            // In a band with an odd number of rows, the last row counts twice.
            let lower = min(upper + 1, band.rows - 1)
            color_convert_rgb(
                &conversion, unit, color_rows(upper: source.row(upper), lower: source.row(lower)),
                Int32(width), band.target(upper: upper, lower: lower))
        }
    }
}

extension PictureSurface.Band {
    /// Two rows of luma, the first of them even, and their chroma row, as a conversion's destination.
    package func target(upper: Int, lower: Int) -> color_target {
        let (first, second) = (luma.row(upper), luma.row(lower))
        switch chroma {
        case .interleaved(let plane):
            let pairs = plane.row(upper / 2)
            return color_target(upper: first, lower: second, cb: pairs, cr: pairs + 1, chroma_step: 2)
        case .separate(let cb, let cr):
            return color_target(
                upper: first, lower: second, cb: cb.row(upper / 2), cr: cr.row(upper / 2), chroma_step: 1)
        }
    }
}

extension color_weights {
    /// - Parameters:
    ///   - sum: the sum of all three weights.
    ///   - offset: the sample's value where red, green and blue are zero.
    init(_ red: Double, _ blue: Double, sum: Double, offset: Double) {
        let scale = 32768.0
        let (fixedRed, fixedBlue) = ((red * scale).rounded(), (blue * scale).rounded())
        // Green gets the remainder: gray stays exactly gray.
        self.init(
            red: Int16(fixedRed), green: Int16((sum * scale).rounded() - fixedRed - fixedBlue),
            blue: Int16(fixedBlue), bias: Int32(offset * scale) + 16384)
    }
}

// MARK: - Coefficients

extension ColorEncoding.Matrix {
    /// The weights of red and blue in luma (H.273, table 4).
    var weights: (red: Double, blue: Double) {
        switch self {
        case .bt709: (0.2126, 0.0722)
        case .bt2020: (0.2627, 0.0593)
        // All remaining sources and options use BT.601.
        default: (0.299, 0.114)
        }
    }
}

extension ColorEncoding.Range {
    /// 8-bit levels: the code of black, the steps from black to white, and the steps from neutral chroma to
    /// either extreme.
    package var levels: (black: Double, luma: Double, chroma: Double) {
        switch self {
        case .limited: (16, 219, 112)
        case .full: (0, 255, 127.5)
        }
    }
}
