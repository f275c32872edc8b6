import CYUV
import Pictures

/// Converts a stream's pictures into 4:2:0 surfaces, each in one pass over the camera's buffer.
///
/// The pass works in bands of a few rows, which stay in the cache: each source byte is fetched from memory
/// once and each surface byte written once. Formats that camrec reads itself go straight to the surface, or
/// through a scratch band if the colours change or the surface has a margin to fill. Vendor formats take two
/// passes (see `VendorReader`).
///
/// Nothing is allocated per frame, except inside libjpeg for JPEG.
///
/// One thread at a time may use a converter.
public final class PixelConverter {
    /// What `convert` takes.
    public let source: PictureFormat
    /// What `convert` writes.
    public let layout: PictureSurface.Layout

    private let reader: any PictureReader
    private var recoloring: Recoloring?
    private let staging: StagingBand
    private let weaver: FieldWeaver?
    private let sampler: LumaSampler?

    /// - Parameters:
    ///   - color: the encoding of the surfaces. Y′CbCr sources of another are converted, RGB sources are
    ///     converted straight to it.
    ///   - makesThumbnails: whether each picture leaves a thumbnail behind.
    /// - Throws: `.unsupported` if nothing reads the source's format.
    public init(
        source: PictureFormat, layout: PictureSurface.Layout, color: ColorEncoding,
        makesThumbnails: Bool = false
    ) throws(ConversionError) {
        self.source = source
        self.layout = layout
        reader = try Self.reader(for: source, color: color)
        recoloring =
            reader.writesWantedColor
            ? nil : Recoloring(from: source.color, to: color)
        staging = StagingBand(width: source.size.width)
        weaver = FieldWeaver(source)
        sampler = makesThumbnails ? LumaSampler(source.size) : nil
    }

    /// The latest picture's, as the source has it; nil if none are made.
    public var thumbnail: LumaThumbnail? { sampler?.thumbnail }

    private static func reader(
        for source: PictureFormat, color: ColorEncoding
    ) throws(ConversionError) -> any PictureReader {
        switch source.pixelFormat.arrangement {
        case .semiPlanar(2, 2, let firstChroma):
            SemiPlanarReader(source, firstChroma: firstChroma)
        case .semiPlanar(let horizontal, _, let firstChroma):
            FullHeightSemiPlanarReader(source, horizontal: horizontal, firstChroma: firstChroma)
        case .planar(let horizontal, let vertical, let firstChroma):
            PlanarReader(
                source, subsampling: Subsampling(horizontal, vertical), firstChroma: firstChroma)
        case .packed422(let order):
            PackedReader(source, order: order)
        case .rgb(let bytesPerPixel, let red, let green, let blue):
            RGBReader(
                source, bytesPerPixel: bytesPerPixel, offsets: (red, green, blue), color: color)
        case .grey:
            GreyReader(source)
        case .jpeg:
            try MJPEGReader(source)
        case .vendor:
            try VendorReader(source)
        case .h264:
            throw .unsupported(source.pixelFormat, "it is H.264 already")
        }
    }

    /// Writes the buffer's picture, and the margin that `surface.paddedSize` asks for.
    ///
    /// - Throws: `.corrupt` or `.mismatched` if the frame is bad; the surface's content is then
    ///   undefined, and the next frame may be good.
    public func convert(
        _ buffer: borrowing PixelBuffer, into surface: PictureSurface
    ) throws(ConversionError) {
        guard buffer.format === source else { throw .mismatched("the stream's format changed") }
        precondition(surface.layout == layout && surface.size == source.size)
        try reader.begin(buffer)
        sampler?.begin()
        let (size, padded) = (surface.size, surface.paddedSize)
        var row = 0
        while row < size.height {
            let rows = min(reader.bandRows, size.height - row)
            let isLast = row + rows == size.height
            let fillsMargin = padded.width > size.width || (isLast && padded.height > size.height)
            let band = surface.band(from: row, rows: rows)
            let rowsOfBand = row..<row + rows
            let pixels =
                if let weaver { weaver.band(rowsOfBand, of: buffer) } else {
                    SourceBand(from: row, of: buffer)
                }
            if recoloring != nil || fillsMargin {
                let staged = staging.band(rows: rows)
                try reader.read(rowsOfBand, from: pixels, into: staged)
                recoloring?.apply(to: staged, into: fillsMargin ? staged : band)
                if fillsMargin {
                    staging.copy(
                        rows: rows, to: band, paddedWidth: padded.width,
                        paddedRows: isLast ? padded.height - row : rows)
                }
            } else {
                try reader.read(rowsOfBand, from: pixels, into: band)
            }
            sampler?.take(rowsOfBand, reader.luma(rowsOfBand, in: pixels))
            row += rows
        }
    }
}
