import CYUV
import Capture

/// YUYV, UYVY and YVYU. Chroma becomes the rounded mean of two rows.
final class PackedReader: PictureReader {
    private let order: PixelFormat.Packed422
    /// YVYU's chroma as libyuv leaves it, Cr first.
    private let swapped: UnsafeMutablePointer<UInt8>
    private let swappedStride: Int

    init(_ format: PictureFormat, order: PixelFormat.Packed422) {
        self.order = order
        swappedStride = 2 * half(format.size.width)
        swapped = .allocateAligned(count: swappedStride * 8)
    }

    deinit { swapped.deallocate() }

    func read(_ rows: Range<Int>, of buffer: borrowing PixelBuffer, into band: PictureSurface.Band) {
        let source = buffer.source(0).from(row: rows.lowerBound)
        let (base, stride) = (source.base, Int32(source.stride))
        let (luma, lumaStride) = (band.luma.base, Int32(band.luma.stride))
        let (width, height) = (Int32(band.width), Int32(band.rows))
        switch band.chroma {
        case .interleaved(let chroma):
            switch order {
            case .yuyv:
                YUY2ToNV12(
                    base, stride, luma, lumaStride, chroma.base, Int32(chroma.stride), width, height)
            case .uyvy:
                UYVYToNV12(
                    base, stride, luma, lumaStride, chroma.base, Int32(chroma.stride), width, height)
            case .yvyu:
                YUY2ToNV12(
                    base, stride, luma, lumaStride, swapped, Int32(swappedStride), width, height)
                SwapUVPlane(
                    swapped, Int32(swappedStride), chroma.base, Int32(chroma.stride),
                    Int32(band.chromaWidth), Int32(band.chromaRows))
            }
        case .separate(let cb, let cr):
            let (u, v) = order == .yvyu ? (cr, cb) : (cb, cr)
            let convert = order == .uyvy ? UYVYToI420 : YUY2ToI420
            _ = convert(
                base, stride, luma, lumaStride, u.base, Int32(u.stride), v.base, Int32(v.stride), width,
                height)
        }
    }
}
