import CYUV

/// A band of planar 4:2:0 in scratch memory, which stays in the cache until it is copied to a surface.
final class StagingBand {
    /// The most rows of a band.
    static let rows = Int(CYUV_JPEG_MAXIMUM_BAND_ROWS)

    private let width: Int
    /// Luma, Cb and Cr.
    let planes: (luma: PictureSurface.Plane, cb: PictureSurface.Plane, cr: PictureSurface.Plane)

    init(width: Int) {
        self.width = width
        // Whole cache lines.
        let stride = (width + 63) / 64 * 64
        let chromaStride = (half(width) + 63) / 64 * 64
        let chromaLength = half(Self.rows) * chromaStride
        planes = (
            .init(.allocateAligned(count: Self.rows * stride), stride: stride),
            .init(.allocateAligned(count: chromaLength), stride: chromaStride),
            .init(.allocateAligned(count: chromaLength), stride: chromaStride)
        )
    }

    deinit {
        for plane in [planes.luma, planes.cb, planes.cr] { plane.base.deallocate() }
    }

    /// The scratch memory as a band.
    func band(rows: Int) -> PictureSurface.Band {
        precondition(rows <= Self.rows)
        return PictureSurface.Band(
            width: width, rows: rows, luma: planes.luma,
            chroma: .separate(cb: planes.cb, cr: planes.cr))
    }

    /// Copies the first rows to their place in a surface. Where that has room beyond the picture, they repeat the last
    /// column, and at the picture's end the last row.
    func copy(to surface: PictureSurface, at place: BandPlace) {
        let padded = surface.paddedSize
        let isLast = place.luma.upperBound == surface.size.height
        let (lumaEnd, chromaEnd) =
            isLast
            ? (padded.height, half(padded.height)) : (place.luma.upperBound, place.chroma.upperBound)
        for row in place.luma.lowerBound..<lumaEnd {
            let source = planes.luma.row(min(row, place.luma.upperBound - 1) - place.luma.lowerBound)
            copy(source, to: surface.luma.row(row), width, padded.width)
        }
        let (chromaWidth, paddedChromaWidth) = (half(width), half(padded.width))
        for row in place.chroma.lowerBound..<chromaEnd {
            let source = min(row, place.chroma.upperBound - 1) - place.chroma.lowerBound
            let (cb, cr) = (planes.cb.row(source), planes.cr.row(source))
            switch surface.chroma {
            case .interleaved(let plane):
                merge(cb, cr, to: plane.row(row), chromaWidth, paddedChromaWidth)
            case .separate(let toCb, let toCr):
                copy(cb, to: toCb.row(row), chromaWidth, paddedChromaWidth)
                copy(cr, to: toCr.row(row), chromaWidth, paddedChromaWidth)
            }
        }
    }

    private func copy(
        _ samples: UnsafePointer<UInt8>, to destination: UnsafeMutablePointer<UInt8>, _ width: Int,
        _ paddedWidth: Int
    ) {
        destination.update(from: samples, count: width)
        (destination + width).update(repeating: samples[width - 1], count: paddedWidth - width)
    }

    private func merge(
        _ cb: UnsafePointer<UInt8>, _ cr: UnsafePointer<UInt8>, to destination: UnsafeMutablePointer<UInt8>,
        _ width: Int, _ paddedWidth: Int
    ) {
        MergeUVPlane(cb, 0, cr, 0, destination, 0, Int32(width), 1)
        for x in width..<paddedWidth {
            destination[2 * x] = cb[width - 1]
            destination[2 * x + 1] = cr[width - 1]
        }
    }
}

extension UnsafeMutablePointer<UInt8> {
    /// Allocates memory that begins at a cache line, which suits every vector instruction.
    static func allocateAligned(count: Int) -> UnsafeMutablePointer<UInt8> {
        UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
            .bindMemory(to: UInt8.self, capacity: count)
    }
}
