import CYUV

/// A band of planar 4:2:0 in scratch memory, which stays in the cache until it is copied to a surface.
final class StagingBand {
    /// The most rows of a band.
    static let rows = Int(CYUV_JPEG_MAXIMUM_BAND_ROWS)

    private let width: Int
    private let luma, cb, cr: PictureSurface.Plane

    init(width: Int) {
        self.width = width
        // Whole cache lines.
        let stride = (width + 63) / 64 * 64
        let chromaStride = (half(width) + 63) / 64 * 64
        luma = .init(.allocateAligned(count: Self.rows * stride), stride: stride)
        cb = .init(.allocateAligned(count: half(Self.rows) * chromaStride), stride: chromaStride)
        cr = .init(.allocateAligned(count: half(Self.rows) * chromaStride), stride: chromaStride)
    }

    deinit {
        for plane in [luma, cb, cr] { plane.base.deallocate() }
    }

    /// The scratch memory as a band.
    func band(rows: Int) -> PictureSurface.Band {
        precondition(rows <= Self.rows)
        return PictureSurface.Band(width: width, rows: rows, luma: luma, chroma: .separate(cb: cb, cr: cr))
    }

    /// Copies the first rows to a surface; if that has room for more rows and columns, they repeat the
    /// last ones.
    func copy(rows: Int, to destination: PictureSurface.Band, paddedWidth: Int, paddedRows: Int) {
        for row in 0..<paddedRows {
            copy(luma.row(min(row, rows - 1)), to: destination.luma.row(row), width, paddedWidth)
        }
        let (chromaWidth, paddedChromaWidth) = (half(width), half(paddedWidth))
        for row in 0..<half(paddedRows) {
            let source = min(row, half(rows) - 1)
            switch destination.chroma {
            case .interleaved(let plane):
                merge(cb.row(source), cr.row(source), to: plane.row(row), chromaWidth, paddedChromaWidth)
            case .separate(let toCb, let toCr):
                copy(cb.row(source), to: toCb.row(row), chromaWidth, paddedChromaWidth)
                copy(cr.row(source), to: toCr.row(row), chromaWidth, paddedChromaWidth)
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
