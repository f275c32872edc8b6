import CYUV
import CamPictures

/// How many luma samples share a chroma sample, across and down.
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

/// Luma only; chroma becomes 128, which is no colour.
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
