import CColor
import CYUV
import CamPictures

/// NV16, NV61, NV24 and NV42: pairs of chroma samples for every row. Chroma becomes the rounded mean of two rows,
/// and of two columns where those have samples of their own.
final class FullHeightSemiPlanarReader: PictureReader {
    private let horizontal: Int
    private let firstChroma: PixelFormat.Chroma
    /// A row of 4:2:0 chroma in the source's order.
    private let pairs: UnsafeMutablePointer<UInt8>

    init(width: Int, horizontal: Int, firstChroma: PixelFormat.Chroma) {
        self.horizontal = horizontal
        self.firstChroma = firstChroma
        pairs = .allocateAligned(count: 2 * half(width))
    }

    deinit { pairs.deallocate() }

    func read(_ rows: Range<Int>, from source: borrowing SourceBand, into band: PictureSurface.Band) {
        band.copyLuma(from: source.plane(0))
        let chroma = source.plane(1)
        for number in 0..<band.chromaRows {
            let upper = chroma.row(2 * number)
            let lower = chroma.row(min(2 * number + 1, band.rows - 1))
            switch band.chroma {
            case .interleaved(let plane) where firstChroma == .cb:
                resample(upper, lower, width: band.width, into: plane.row(number))
            case .interleaved(let plane):
                resample(upper, lower, width: band.width, into: pairs)
                SwapUVPlane(pairs, 0, plane.row(number), 0, Int32(band.chromaWidth), 1)
            case .separate(let toCb, let toCr):
                resample(upper, lower, width: band.width, into: pairs)
                let (first, second) = firstChroma == .cb ? (toCb, toCr) : (toCr, toCb)
                SplitUVPlane(
                    pairs, 0, first.row(number), 0, second.row(number), 0, Int32(band.chromaWidth), 1)
            }
        }
    }

    /// Averages the chroma of two rows of `width` luma samples into one row of pairs.
    private func resample(
        _ upper: UnsafePointer<UInt8>, _ lower: UnsafePointer<UInt8>, width: Int,
        into result: UnsafeMutablePointer<UInt8>
    ) {
        if horizontal == 2 {
            InterpolatePlane(upper, 0, lower, 0, result, 0, Int32(2 * half(width)), 1, 128)
            return
        }
        color_halve_pairs(upper, lower, Int32(width), result)
    }
}
