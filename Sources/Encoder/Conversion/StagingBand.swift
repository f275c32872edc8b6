import CYUV

/// A band of scratch memory, which stays in the cache, and the way from there to a surface.
final class StagingBand {
    /// The most rows of a band.
    static let rows = Int(CYUV_JPEG_MAXIMUM_BAND_ROWS)

    private let width: Int
    private let layout: PictureSurface.Layout
    private let memory: UnsafeMutablePointer<UInt8>
    private let stride: Int

    init(width: Int, layout: PictureSurface.Layout) {
        self.width = width
        self.layout = layout
        stride = (width + 63) / 64 * 64
        memory = .allocateAligned(count: Self.rows * stride + half(Self.rows) * stride)
    }

    deinit { memory.deallocate() }

    /// The scratch memory as a band.
    func band(rows: Int) -> PictureSurface.Band {
        precondition(rows <= Self.rows)
        let chroma = memory + stride * Self.rows
        let planes: PictureSurface.Chroma =
            switch layout {
            case .nv12: .interleaved(.init(chroma, stride: stride))
            case .i420:
                .separate(
                    cb: .init(chroma, stride: stride), cr: .init(chroma + stride / 2, stride: stride))
            }
        return PictureSurface.Band(
            width: width, rows: rows, luma: .init(memory, stride: stride), chroma: planes)
    }

    /// Copies a staged band; what the destination has beyond it repeats its last column and last row.
    func copy(
        _ staged: PictureSurface.Band, to destination: PictureSurface.Band, paddedWidth: Int, paddedRows: Int
    ) {
        copy(
            staged.luma, to: destination.luma, width: staged.width, rows: staged.rows,
            paddedWidth: paddedWidth, paddedRows: paddedRows)
        let (width, rows) = (staged.chromaWidth, staged.chromaRows)
        let (chromaWidth, chromaRows) = (half(paddedWidth), half(paddedRows))
        switch (staged.chroma, destination.chroma) {
        case (.interleaved(let from), .interleaved(let to)):
            copy(
                from, to: to, width: 2 * width, rows: rows, paddedWidth: 2 * chromaWidth,
                paddedRows: chromaRows, sampleBytes: 2)
        case (.separate(let cb, let cr), .separate(let toCb, let toCr)):
            copy(
                cb, to: toCb, width: width, rows: rows, paddedWidth: chromaWidth, paddedRows: chromaRows)
            copy(
                cr, to: toCr, width: width, rows: rows, paddedWidth: chromaWidth, paddedRows: chromaRows)
        default:
            preconditionFailure("the staging band has the surface's layout")
        }
    }

    /// Widths in bytes.
    private func copy(
        _ source: PictureSurface.Plane, to destination: PictureSurface.Plane, width: Int, rows: Int,
        paddedWidth: Int, paddedRows: Int, sampleBytes: Int = 1
    ) {
        for number in 0..<paddedRows {
            let (from, to) = (source.row(min(number, rows - 1)), destination.row(number))
            to.update(from: from, count: width)
            for column in width..<paddedWidth {
                to[column] = from[width - sampleBytes + (column - width) % sampleBytes]
            }
        }
    }
}

extension UnsafeMutablePointer<UInt8> {
    /// Memory that begins at a cache line, which suits every vector instruction.
    static func allocateAligned(count: Int) -> UnsafeMutablePointer<UInt8> {
        UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
            .bindMemory(to: UInt8.self, capacity: count)
    }
}
