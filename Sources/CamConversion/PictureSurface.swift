import CYUV
import CamPictures
import Glibc

/// The destination of one conversion: 8-bit Y′CbCr 4:2:0 in memory that the caller owns.
///
/// The memory may be a mapped VA surface, which is often write-combined. Conversions therefore write each
/// byte once, rows from top to bottom and each row from left to right, and never read the surface.
public struct PictureSurface {
    /// The arrangement of the chroma planes.
    public enum Layout: Sendable, Hashable {
        /// One plane in which Cb and Cr alternate.
        case nv12
        /// A plane of Cb, then one of Cr.
        case i420
    }

    /// A plane's first sample, and the bytes from one row to the next.
    public struct Plane {
        /// The first sample of the first row.
        public var base: UnsafeMutablePointer<UInt8>
        /// Bytes from one row to the next.
        public var stride: Int

        /// Describes a plane in memory that the caller owns.
        public init(_ base: UnsafeMutablePointer<UInt8>, stride: Int) {
            self.base = base
            self.stride = stride
        }

        /// The first sample of row `number`.
        package func row(_ number: Int) -> UnsafeMutablePointer<UInt8> { base + number * stride }

        package func from(row number: Int) -> Plane { Plane(row(number), stride: stride) }
    }

    /// The chroma planes.
    public enum Chroma {
        /// NV12.
        case interleaved(Plane)
        /// I420.
        case separate(cb: Plane, cr: Plane)

        public var layout: Layout {
            switch self {
            case .interleaved: .nv12
            case .separate: .i420
            }
        }

        package func from(row number: Int) -> Chroma {
            switch self {
            case .interleaved(let plane):
                .interleaved(plane.from(row: number))
            case .separate(let cb, let cr):
                .separate(cb: cb.from(row: number), cr: cr.from(row: number))
            }
        }
    }

    /// The picture's size, without the margin.
    public let size: PictureSize
    /// Columns and rows that a conversion writes, at least `size`. The margin beyond the picture repeats its
    /// edge: the encoder codes whole macroblocks of 16×16 and spends no bits on a repeated edge.
    public let paddedSize: PictureSize
    package let luma: Plane
    package let chroma: Chroma

    /// - Parameters:
    ///   - paddedSize: columns and rows that the memory has room for; nil for no margin. Chroma planes hold
    ///     half of that, rounded up.
    /// - Precondition: `paddedSize` is at least `size`, and no stride is shorter than a padded row.
    public init(size: PictureSize, paddedSize: PictureSize? = nil, luma: Plane, chroma: Chroma) {
        let paddedSize = paddedSize ?? size
        precondition(paddedSize.width >= size.width && paddedSize.height >= size.height)
        precondition(luma.stride >= paddedSize.width)
        switch chroma {
        case .interleaved(let plane):
            precondition(plane.stride >= 2 * half(paddedSize.width))
        case .separate(let cb, let cr):
            precondition(min(cb.stride, cr.stride) >= half(paddedSize.width))
        }
        self.size = size
        self.paddedSize = paddedSize
        self.luma = luma
        self.chroma = chroma
    }

    public var layout: Layout { chroma.layout }

    /// The `rows` rows that begin at luma row `row`, an even number.
    package func band(from row: Int, rows: Int) -> Band {
        Band(
            width: size.width, rows: rows, luma: luma.from(row: row),
            chroma: chroma.from(row: row / 2))
    }

    /// Consecutive rows of a picture, beginning at an even row. The number of rows is odd only at the end of
    /// a picture of odd height.
    package struct Band {
        package let width: Int
        package let rows: Int
        package let luma: Plane
        package let chroma: Chroma

        var chromaWidth: Int { half(width) }
        var chromaRows: Int { half(rows) }
    }
}

/// The number of chroma samples along `count` luma samples in 4:2:0.
func half(_ count: Int) -> Int { (count + 1) / 2 }

// MARK: - Bands

/// The rows of a picture that a band covers. Bands of a picture that is turned upside down may begin at odd
/// rows, so luma and chroma have separate ranges.
struct BandPlace {
    let luma: Range<Int>
    let chroma: Range<Int>

    /// Rows counted from the top of a picture; the first is even.
    init(_ rows: Range<Int>) {
        luma = rows
        let first = rows.lowerBound / 2
        chroma = first..<first + half(rows.count)
    }

    /// The same rows counted from the bottom of a picture.
    init(_ rows: Range<Int>, fromBottomOf height: Int) {
        let place = BandPlace(rows)
        luma = height - place.luma.upperBound..<height - place.luma.lowerBound
        chroma = half(height) - place.chroma.upperBound..<half(height) - place.chroma.lowerBound
    }
}

/// A band of planar 4:2:0 in scratch memory, which stays in the cache until it is copied to a surface.
final class StagingBand {
    /// The maximum number of rows in a band.
    static let rows = Int(CYUV_JPEG_MAXIMUM_BAND_ROWS)

    private let width: Int
    /// The scratch planes.
    let planes: (luma: PictureSurface.Plane, cb: PictureSurface.Plane, cr: PictureSurface.Plane)

    init(width: Int) {
        self.width = width
        // Rows are whole cache lines.
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

    /// Copies the staged rows to their place in a surface and fills the surface's margin: it repeats the last
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
    /// Allocates memory aligned to a cache line, which satisfies every vector instruction.
    static func allocateAligned(count: Int) -> UnsafeMutablePointer<UInt8> {
        UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
            .bindMemory(to: UInt8.self, capacity: count)
    }
}

// MARK: - Memory

/// Owns the memory of one converted picture.
package final class PictureMemory {
    /// The picture in this memory.
    package let surface: PictureSurface
    private let memory: UnsafeMutableRawPointer

    /// - Parameter paddedSize: the picture's size with its margin.
    package init(
        _ size: PictureSize, paddedTo paddedSize: PictureSize, layout: PictureSurface.Layout
    ) throws(ConversionError) {
        // The rows of all planes are a multiple of 64 bytes, which suits the encoders' vector code.
        let stride = (paddedSize.width + 127) & ~127
        let (lumaLength, chromaLength) = (stride * paddedSize.height, stride * (paddedSize.height / 2))
        guard let memory = AlignedMemory.allocate(byteCount: lumaLength + chromaLength)?.baseAddress else {
            throw .outOfMemory
        }
        self.memory = memory
        let luma = memory.assumingMemoryBound(to: UInt8.self)
        let chroma = luma + lumaLength
        surface = PictureSurface(
            size: size, paddedSize: paddedSize, luma: PictureSurface.Plane(luma, stride: stride),
            chroma: layout == .nv12
                ? .interleaved(PictureSurface.Plane(chroma, stride: stride))
                : .separate(
                    cb: PictureSurface.Plane(chroma, stride: stride / 2),
                    cr: PictureSurface.Plane(chroma + chromaLength / 2, stride: stride / 2)))
    }

    /// Memory for a planar picture of any size.
    package convenience init(planar size: PictureSize) throws(ConversionError) {
        // Chroma needs half a sample more along an odd side.
        let even = PictureSize((size.width + 1) & ~1, (size.height + 1) & ~1)
        guard let even else { throw .outOfMemory }
        try self.init(size, paddedTo: even, layout: .i420)
    }

    deinit { free(memory) }

    /// Allocates memory for another picture of the same size and layout.
    package func another() throws(ConversionError) -> PictureMemory {
        try PictureMemory(surface.size, paddedTo: surface.paddedSize, layout: surface.layout)
    }
}

// MARK: - Sources that need no conversion

/// The planes of a source that a software encoder reads directly, without conversion or copy.
public struct PassthroughLayout: Sendable, Hashable {
    /// The 8-bit 4:2:0 arrangements that libx264 accepts.
    public enum Arrangement: Sendable, Hashable {
        /// Luma, then alternating Cb and Cr.
        case nv12
        /// Luma, then alternating Cr and Cb.
        case nv21
        /// Luma, Cb, Cr.
        case i420
    }

    /// The arrangement of the planes.
    public let arrangement: Arrangement
    /// The indices of the arrangement's planes in `PictureFormat.planes`, in the arrangement's order: YV12 is
    /// I420 with the last two exchanged.
    public let planes: [Int]

    /// - Parameter color: the encoder's expected colors.
    /// - Returns: nil if the source must be converted: its arrangement or color encoding differs, its fields
    ///   must be woven, or its size is odd, which requires a margin that the camera's buffer lacks.
    public init?(_ format: PictureFormat, color: ColorEncoding) {
        guard format.firstField == nil, format.size.width % 2 == 0, format.size.height % 2 == 0,
            format.color.range == color.range, format.color.matrix == color.matrix
        else { return nil }
        switch format.pixelFormat.arrangement {
        case .semiPlanar(2, 2, let firstChroma):
            arrangement = firstChroma == .cb ? .nv12 : .nv21
            planes = [0, 1]
        case .planar(2, 2, let firstChroma):
            arrangement = .i420
            planes = firstChroma == .cb ? [0, 1, 2] : [0, 2, 1]
        default:
            return nil
        }
    }
}
