import CYUV
import CamPictures

/// Reads pictures of one arrangement as bands of 4:2:0.
protocol PictureReader: AnyObject {
    /// The number of rows that one call of `read` delivers, except at the picture's end: even, and at most
    /// `StagingBand.rows`. Valid after `begin`.
    var bandRows: Int { get }

    /// Whether bands already have the target color encoding instead of the source's.
    var writesWantedColor: Bool { get }

    /// Called once per picture, before its first band.
    func begin(_ buffer: borrowing PixelBuffer) throws(ConversionError)

    /// Reads a band. Decoding readers require bands from the top down, without gaps.
    /// - Parameter source: the planes of a raw picture, from the band's first row on.
    func read(
        _ rows: Range<Int>, from source: borrowing SourceBand, into band: PictureSurface.Band
    ) throws(ConversionError)

    /// The luma of the band read last; for RGB, the green samples.
    func luma(_ rows: Range<Int>, in source: borrowing SourceBand) -> LumaRows
}

extension PictureReader {
    /// Luma is the first plane by default.
    func luma(_ rows: Range<Int>, in source: borrowing SourceBand) -> LumaRows { LumaRows(source.plane(0)) }

    /// With this many rows, a band of a 1080p picture, source and destination, fits into an L2 cache of 256
    /// KiB.
    var bandRows: Int { 16 }

    var writesWantedColor: Bool { false }

    func begin(_ buffer: borrowing PixelBuffer) throws(ConversionError) {}
}

/// A plane to read from, in memory that the caller owns.
package struct SourcePlane {
    let base: UnsafePointer<UInt8>
    let stride: Int

    init(_ base: UnsafePointer<UInt8>, stride: Int) {
        self.base = base
        self.stride = stride
    }

    init(_ plane: PictureSurface.Plane) { self.init(plane.base, stride: plane.stride) }

    func row(_ number: Int) -> UnsafePointer<UInt8> { base + number * stride }

    func from(row number: Int) -> SourcePlane { SourcePlane(row(number), stride: stride) }
}

// MARK: - Planar formats

/// The number of luma samples per chroma sample, across and down.
struct Subsampling: Hashable {
    let horizontal: Int
    let vertical: Int

    init(_ horizontal: Int, _ vertical: Int) {
        self.horizontal = horizontal
        self.vertical = vertical
    }
}

/// NV12 and NV21.
final class SemiPlanarReader: PictureReader {
    private let firstChroma: PixelFormat.Chroma

    init(firstChroma: PixelFormat.Chroma) { self.firstChroma = firstChroma }

    func read(_ rows: Range<Int>, from source: borrowing SourceBand, into band: PictureSurface.Band) {
        band.copyLuma(from: source.plane(0))
        let chroma = source.plane(1)
        let (width, height) = (Int32(band.chromaWidth), Int32(band.chromaRows))
        switch (band.chroma, firstChroma) {
        case (.interleaved(let plane), .cb):
            CopyPlane(
                chroma.base, Int32(chroma.stride), plane.base, Int32(plane.stride), 2 * width, height)
        case (.interleaved(let plane), .cr):
            SwapUVPlane(chroma.base, Int32(chroma.stride), plane.base, Int32(plane.stride), width, height)
        case (.separate(let cb, let cr), _):
            let (first, second) = firstChroma == .cb ? (cb, cr) : (cr, cb)
            SplitUVPlane(
                chroma.base, Int32(chroma.stride), first.base, Int32(first.stride), second.base,
                Int32(second.stride), width, height)
        }
    }
}

/// Three planes, chroma subsampled by 1, 2 or 4 each way.
final class PlanarReader: PictureReader {
    private let chroma: ChromaResampler
    private let subsampling: Subsampling
    /// The numbers of the Cb and Cr planes.
    private let (cb, cr): (Int, Int)

    init(size: PictureSize, subsampling: Subsampling, firstChroma: PixelFormat.Chroma) {
        self.subsampling = subsampling
        chroma = ChromaResampler(size: size)
        (cb, cr) = firstChroma == .cb ? (1, 2) : (2, 1)
    }

    func read(_ rows: Range<Int>, from source: borrowing SourceBand, into band: PictureSurface.Band) {
        band.copyLuma(from: source.plane(0))
        chroma.resample(
            cb: source.plane(cb), cr: source.plane(cr), rows: source.rows(cb), subsampling: subsampling,
            into: band)
    }
}

/// Luma only; chroma becomes 128, which is no color.
final class GreyReader: PictureReader {
    func read(_ rows: Range<Int>, from source: borrowing SourceBand, into band: PictureSurface.Band) {
        band.copyLuma(from: source.plane(0))
        band.fillChroma(with: 128)
    }
}

extension PictureSurface.Band {
    func copyLuma(from source: SourcePlane) {
        CopyPlane(
            source.base, Int32(source.stride), luma.base, Int32(luma.stride), Int32(width), Int32(rows))
    }

    func fillChroma(with value: UInt32) {
        let (width, rows) = (Int32(chromaWidth), Int32(chromaRows))
        switch chroma {
        case .interleaved(let plane):
            SetPlane(plane.base, Int32(plane.stride), 2 * width, rows, value)
        case .separate(let cb, let cr):
            SetPlane(cb.base, Int32(cb.stride), width, rows, value)
            SetPlane(cr.base, Int32(cr.stride), width, rows, value)
        }
    }
}

/// NV16, NV61, NV24 and NV42, which have pairs of chroma samples for every row. The result is the rounded
/// mean of two rows, and for NV24 and NV42 also of two columns.
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

// MARK: - Packed formats

/// YUYV, UYVY and YVYU. Chroma becomes the rounded mean of two rows.
final class PackedReader: PictureReader {
    private let order: PixelFormat.Packed422
    /// Whether libyuv's conversion to NV12 is usable. libyuv has none for YVYU, and `UYVYToNV12` allocates at
    /// each call. At widths 17 … 30 above a multiple of 32, `YUY2ToNV12` (AVX2) mixes up the last columns'
    /// chroma in libyuv of 2023 and overflows a buffer in libyuv of 2025.
    private let goesToNV12: Bool
    /// Scratch memory for a band's Cb and Cr before they are interleaved.
    private let cb, cr: PictureSurface.Plane

    init(width fullWidth: Int, order: PixelFormat.Packed422) {
        self.order = order
        goesToNV12 = order == .yuyv && fullWidth % 32 == 0
        let width = half(fullWidth)
        let length = width * half(StagingBand.rows)
        cb = .init(.allocateAligned(count: length), stride: width)
        cr = .init(.allocateAligned(count: length), stride: width)
    }

    deinit {
        cb.base.deallocate()
        cr.base.deallocate()
    }

    func read(_ rows: Range<Int>, from source: borrowing SourceBand, into band: PictureSurface.Band) {
        let source = source.plane(0)
        switch band.chroma {
        case .interleaved(let chroma) where goesToNV12:
            _ = YUY2ToNV12(
                source.base, Int32(source.stride), band.luma.base, Int32(band.luma.stride), chroma.base,
                Int32(chroma.stride), Int32(band.width), Int32(band.rows))
        case .interleaved:
            separate(source, band, cb: cb, cr: cr)
            band.copyChroma(cb: SourcePlane(cb), cr: SourcePlane(cr))
        case .separate(let cb, let cr):
            separate(source, band, cb: cb, cr: cr)
        }
    }

    func luma(_ rows: Range<Int>, in source: borrowing SourceBand) -> LumaRows {
        LumaRows(source.plane(0), offset: order == .uyvy ? 1 : 0, step: 2)
    }

    /// Writes the band's luma, and its Cb and Cr to separate planes.
    private func separate(
        _ source: SourcePlane, _ band: PictureSurface.Band, cb: PictureSurface.Plane, cr: PictureSurface.Plane
    ) {
        let convert = order == .uyvy ? UYVYToI420 : YUY2ToI420
        let (first, second) = order == .yvyu ? (cr, cb) : (cb, cr)
        _ = convert(
            source.base, Int32(source.stride), band.luma.base, Int32(band.luma.stride), first.base,
            Int32(first.stride), second.base, Int32(second.stride), Int32(band.width), Int32(band.rows))
    }
}

// MARK: - Chroma

/// Resamples planar chroma of any subsampling to 4:2:0.
///
/// Each result is the mean, rounded half up, of the chroma samples of the four pixels in a 2×2 block. At an
/// odd right or bottom edge, the last column or row counts twice.
final class ChromaResampler {
    /// Samples per row: luma, and resulting chroma.
    private let (lumaWidth, width): (Int, Int)
    private let rowMemory: UnsafeMutablePointer<UInt8>

    init(size: PictureSize) {
        lumaWidth = size.width
        width = half(size.width)
        rowMemory = .allocateAligned(count: 2 * width)
    }

    deinit { rowMemory.deallocate() }

    /// - Parameters:
    ///   - cb, cr: the source rows from the band's first row on.
    ///   - rows: the number of source rows to the end of the picture, or of the band.
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
    /// Copies chroma that is already subsampled 2×2.
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
