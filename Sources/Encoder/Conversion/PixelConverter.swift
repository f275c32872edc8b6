import CYUV
import CamPictures

/// Converts a stream's pictures into 4:2:0 surfaces, each in one pass over the camera's buffer.
///
/// The pass works in bands of a few rows, which stay in the cache: each source byte is fetched from memory
/// once and each surface byte written once. Formats that camrec reads itself go straight to the surface, or
/// through a scratch band if the colours change, a text touches the band, or the surface has a margin to fill.
/// Vendor formats take two passes (see `VendorReader`), and so do pictures that are turned by a right angle or scaled
/// (see `Reframing`).
///
/// Nothing is allocated per frame, except inside libjpeg for JPEG.
///
/// One thread at a time may use a converter.
public final class PixelConverter {
    /// What `convert` takes.
    public let source: PictureFormat
    /// What `convert` writes.
    public let layout: PictureSurface.Layout
    /// The size of the pictures that it writes.
    public let size: PictureSize

    private let window: SourceWindow
    private var recoloring: Recoloring?
    private let staging: StagingBand
    /// Nil for pictures that stay upright and as large as they are.
    private let reframing: Reframing?
    private let overlay: OverlayPainter?

    /// - Parameters:
    ///   - color: the encoding of the surfaces. Y′CbCr sources of another are converted, RGB sources are
    ///     converted straight to it.
    ///   - framing: one that the source's pictures have.
    ///   - makesThumbnails: whether each picture leaves a thumbnail behind.
    /// - Throws: `.unsupported` if nothing reads the source's format.
    public convenience init(
        source: PictureFormat, layout: PictureSurface.Layout, color: ColorEncoding,
        framing: Framing = Framing(), makesThumbnails: Bool = false
    ) throws(ConversionError) {
        try self.init(
            source: source, layout: layout, color: color, framing: framing, overlay: nil,
            makesThumbnails: makesThumbnails)
    }

    init(
        source: PictureFormat, layout: PictureSurface.Layout, color: ColorEncoding, framing: Framing,
        overlay: OverlayDesign?, makesThumbnails: Bool
    ) throws(ConversionError) {
        self.source = source
        self.layout = layout
        window = try SourceWindow(
            source, crop: framing.crop, color: color, makesThumbnails: makesThumbnails)
        recoloring =
            window.writesWantedColor
            ? nil : Recoloring(from: source.color, to: color)
        staging = StagingBand(width: window.size.width)
        reframing = try Reframing(window, framing, siting: source.chromaSiting)
        size = reframing?.size ?? window.size
        self.overlay = overlay.map { OverlayPainter($0) }
    }

    /// The latest picture's, before it is turned or scaled; nil if none are made.
    public var thumbnail: LumaThumbnail? { window.thumbnail }

    /// Writes the buffer's picture, and the margin that `surface.paddedSize` asks for.
    ///
    /// - Throws: `.corrupt` or `.mismatched` if the frame is bad; the surface's content is then
    ///   undefined, and the next frame may be good.
    public func convert(
        _ buffer: borrowing PixelBuffer, into surface: PictureSurface
    ) throws(ConversionError) {
        guard buffer.format === source else { throw .mismatched("the stream's format changed") }
        precondition(surface.layout == layout && surface.size == size)
        try window.begin(buffer)
        overlay?.begin(at: buffer.timestamp, frame: buffer.sequence)
        if let reframing {
            try reframing.convert(buffer, recoloring: &recoloring, overlay: overlay, into: surface)
        } else {
            try convert(upright: buffer, into: surface)
        }
        window.end()
    }

    private func convert(
        upright buffer: borrowing PixelBuffer, into surface: PictureSurface
    ) throws(ConversionError) {
        var row = 0
        while row < size.height {
            let rows = window.rows(from: row)
            try convert(rows, of: buffer, into: surface)
            row = rows.upperBound
        }
    }

    private func convert(
        _ rows: Range<Int>, of buffer: borrowing PixelBuffer, into surface: PictureSurface
    ) throws(ConversionError) {
        let padded = surface.paddedSize
        let place = BandPlace(rows)
        let isCopied =
            padded.width > size.width || (rows.upperBound == size.height && padded.height > size.height)
            || overlay?.touches(place) == true
        let band = surface.band(from: rows.lowerBound, rows: rows.count)
        guard isCopied || recoloring != nil else { return try window.read(rows, of: buffer, into: band) }
        let staged = staging.band(rows: rows.count)
        try window.read(rows, of: buffer, into: staged)
        recoloring?.apply(to: staged, into: isCopied ? staged : band)
        guard isCopied else { return }
        overlay?.draw(on: staged, at: place)
        staging.copy(to: surface, at: place)
    }
}
