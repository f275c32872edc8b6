import CColor
import CamPictures

/// RGB of three or four bytes a pixel, converted straight to the wanted encoding with coefficients of 15
/// bits: at most one step from the exact result. Chroma is that of each 2×2 block's mean colour.
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
            // The last row of an odd number stands for both.
            let lower = min(upper + 1, band.rows - 1)
            color_convert_rgb(
                &conversion, unit, color_rows(upper: source.row(upper), lower: source.row(lower)),
                Int32(width), band.target(upper: upper, lower: lower))
        }
    }
}

extension PictureSurface.Band {
    /// Two rows of luma, the first an even one, and theirs of chroma, for a conversion to write.
    func target(upper: Int, lower: Int) -> color_target {
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
    ///   - sum: that of all three weights.
    ///   - offset: the sample's value where red, green and blue are zero.
    init(_ red: Double, _ blue: Double, sum: Double, offset: Double) {
        let scale = 32768.0
        let (fixedRed, fixedBlue) = ((red * scale).rounded(), (blue * scale).rounded())
        // Green is the remainder, so that grey stays exactly grey.
        self.init(
            red: Int16(fixedRed), green: Int16((sum * scale).rounded() - fixedRed - fixedBlue),
            blue: Int16(fixedBlue), bias: Int32(offset * scale) + 16384)
    }
}
