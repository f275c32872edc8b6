import CYUV
import CamPictures

/// YUYV, UYVY and YVYU. Chroma becomes the rounded mean of two rows.
final class PackedReader: PictureReader {
    private let order: PixelFormat.Packed422
    /// Whether libyuv's conversion to NV12 can be used. There is none for YVYU, that of UYVY allocates at each
    /// call, and at widths that are 17 … 30 above a multiple of 32 `YUY2ToNV12` (AVX2) mixes the last columns'
    /// chroma up in libyuv of 2023 and overflows a buffer in that of 2025.
    private let goesToNV12: Bool
    /// The band's Cb and Cr, if they are merged afterwards.
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

    /// Writes the band's luma, and its chroma to two planes.
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
