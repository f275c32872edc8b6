import CYUV
import CamPictures

/// Brings planar chroma of any subsampling to 4:2:0.
///
/// A result is the mean, rounded up at one half, of the chroma samples that the four pixels of its 2×2
/// block have; at an odd right or bottom edge the last column or row counts twice.
final class ChromaResampler {
    /// Luma samples in a row, and chroma samples in one of the result.
    private let (lumaWidth, width): (Int, Int)
    private let rowMemory: UnsafeMutablePointer<UInt8>

    init(size: PictureSize) {
        lumaWidth = size.width
        width = half(size.width)
        rowMemory = .allocateAligned(count: 2 * width)
    }

    deinit { rowMemory.deallocate() }

    /// - Parameters:
    ///   - cb, cr: rows that belong to the band, and those after it.
    ///   - rows: how many there are until the picture's end, or the band's.
    func resample(
        cb: SourcePlane, cr: SourcePlane, rows: Int, subsampling: Subsampling,
        into band: PictureSurface.Band
    ) {
        if subsampling == Subsampling(2, 2) {
            band.copyChroma(cb: cb, cr: cr)
            return
        }
        let horizontally = subsampling.horizontal
        for number in 0..<band.chromaRows {
            // The chroma rows of the block's upper and lower pixels.
            let upper = min(2 * number / subsampling.vertical, rows - 1)
            let lower = min((2 * number + 1) / subsampling.vertical, rows - 1)
            switch band.chroma {
            case .interleaved(let plane):
                resampleRow(cb.row(upper), cb.row(lower), horizontally, into: rowMemory)
                resampleRow(cr.row(upper), cr.row(lower), horizontally, into: rowMemory + width)
                MergeUVPlane(rowMemory, 0, rowMemory + width, 0, plane.row(number), 0, Int32(width), 1)
            case .separate(let toCb, let toCr):
                resampleRow(cb.row(upper), cb.row(lower), horizontally, into: toCb.row(number))
                resampleRow(cr.row(upper), cr.row(lower), horizontally, into: toCr.row(number))
            }
        }
    }

    private func resampleRow(
        _ upper: UnsafePointer<UInt8>, _ lower: UnsafePointer<UInt8>, _ subsampling: Int,
        into result: UnsafeMutablePointer<UInt8>
    ) {
        switch subsampling {
        case 1:
            let pairs = lumaWidth / 2
            for x in 0..<pairs {
                let sum =
                    UInt16(upper[2 * x]) &+ UInt16(upper[2 * x &+ 1])
                    &+ UInt16(lower[2 * x]) &+ UInt16(lower[2 * x &+ 1])
                result[x] = UInt8(truncatingIfNeeded: (sum &+ 2) &>> 2)
            }
            if pairs < width {
                result[pairs] = mean(upper[lumaWidth - 1], lower[lumaWidth - 1])
            }
        case 2:
            InterpolatePlane(upper, 0, lower, 0, result, 0, Int32(width), 1, 128)
        default:
            for x in 0..<width { result[x] = mean(upper[x / 2], lower[x / 2]) }
        }
    }

    @inline(__always)
    private func mean(_ first: UInt8, _ second: UInt8) -> UInt8 {
        UInt8(truncatingIfNeeded: (UInt16(first) &+ UInt16(second) &+ 1) &>> 1)
    }
}

extension PictureSurface.Band {
    /// Takes over chroma that is subsampled 2×2.
    func copyChroma(cb: SourcePlane, cr: SourcePlane) {
        let (width, rows) = (Int32(chromaWidth), Int32(chromaRows))
        switch chroma {
        case .interleaved(let plane):
            MergeUVPlane(
                cb.base, Int32(cb.stride), cr.base, Int32(cr.stride), plane.base, Int32(plane.stride), width,
                rows)
        case .separate(let toCb, let toCr):
            CopyPlane(cb.base, Int32(cb.stride), toCb.base, Int32(toCb.stride), width, rows)
            CopyPlane(cr.base, Int32(cr.stride), toCr.base, Int32(toCr.stride), width, rows)
        }
    }
}
