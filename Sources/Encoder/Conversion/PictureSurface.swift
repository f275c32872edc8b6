import CamPictures

/// Where one conversion writes a picture: 8-bit Y′CbCr 4:2:0 in memory that belongs to someone else.
///
/// The memory may be a mapped VA surface, which is often write-combined: it is written once, rows from top to
/// bottom and each row from left to right, and never read.
public struct PictureSurface {
    /// How chroma lies in memory.
    public enum Layout: Sendable, Hashable {
        /// One plane of Cb and Cr in turn.
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

        /// A plane in someone else's memory.
        public init(_ base: UnsafeMutablePointer<UInt8>, stride: Int) {
            self.base = base
            self.stride = stride
        }

        /// The first sample of row `number`.
        func row(_ number: Int) -> UnsafeMutablePointer<UInt8> { base + number * stride }

        func from(row number: Int) -> Plane { Plane(row(number), stride: stride) }
    }

    /// Where chroma lies.
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

        func from(row number: Int) -> Chroma {
            switch self {
            case .interleaved(let plane):
                .interleaved(plane.from(row: number))
            case .separate(let cb, let cr):
                .separate(cb: cb.from(row: number), cr: cr.from(row: number))
            }
        }
    }

    /// The picture.
    public let size: PictureSize
    /// Columns and rows that are written, at least `size`. What lies beyond the picture repeats its edge,
    /// so that the encoder, which codes whole macroblocks of 16×16, spends no bits there.
    public let paddedSize: PictureSize
    let luma: Plane
    let chroma: Chroma

    /// - Parameters:
    ///   - paddedSize: columns and rows that the memory has room for; nil means just the picture. Chroma
    ///     planes hold half of it, rounded up.
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

    /// The part of the picture from luma row `row`, an even number, on.
    func band(from row: Int, rows: Int) -> Band {
        Band(
            width: size.width, rows: rows, luma: luma.from(row: row),
            chroma: chroma.from(row: row / 2))
    }

    /// Some rows of a picture, beginning at an even one; their number is odd only at the end of a picture
    /// of odd height.
    struct Band {
        let width: Int
        let rows: Int
        let luma: Plane
        let chroma: Chroma

        var chromaWidth: Int { half(width) }
        var chromaRows: Int { half(rows) }
    }
}

/// Samples of a chroma plane along `count` luma samples in 4:2:0.
func half(_ count: Int) -> Int { (count + 1) / 2 }
