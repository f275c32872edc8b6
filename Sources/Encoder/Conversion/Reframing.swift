import CYUV
import CamPictures

/// Turns, mirrors and scales pictures on their way into a surface.
///
/// Mirrored ones stay in the cache: a band is reversed on its way from one scratch band to another. A turn by a right
/// angle makes columns of rows, and a scaled row needs rows of several bands, so these take a picture in ordinary memory in
/// between, and a second pass. Surfaces are written once, from the top down, as mapped ones must be; only decoded
/// pictures that go upside down begin at the bottom.
final class Reframing {
    /// The size of the pictures.
    let size: PictureSize

    private let window: SourceWindow
    private let orientation: Orientation
    private let scaler: PictureScaler?
    /// The size ahead of the orientation.
    private let flatSize: PictureSize
    /// The whole picture ahead of a turn by a right angle.
    private let turned: PictureMemory?
    private let input: StagingBand
    private let output: StagingBand

    /// Nil for pictures that stay upright and as large as they are.
    init?(_ window: SourceWindow, _ framing: Framing, siting: ChromaSiting) throws(ConversionError) {
        let orientation = framing.orientation
        let flatSize = framing.scale.map(orientation.size) ?? window.size
        guard !orientation.isUpright || flatSize != window.size else { return nil }
        (self.window, self.orientation, self.flatSize) = (window, orientation, flatSize)
        size = orientation.size(of: flatSize)
        scaler =
            flatSize == window.size
            ? nil : try PictureScaler(from: window.size, to: flatSize, siting: siting)
        turned = orientation.isTransposed ? try PictureMemory(planar: flatSize) : nil
        input = StagingBand(width: flatSize.width)
        output = StagingBand(width: size.width)
    }

    /// Writes a picture that the window has begun.
    func convert(
        _ buffer: borrowing PixelBuffer, recoloring: inout Recoloring?, overlay: OverlayPainter?,
        into surface: PictureSurface
    ) throws(ConversionError) {
        if let scaler { try fill(scaler.source, from: buffer, &recoloring) }
        if let turned {
            if let scaler {
                scaler.fill(turned.surface)
            } else {
                try fill(turned.surface, from: buffer, &recoloring)
            }
            return turn(turned.surface, overlay, into: surface)
        }
        try mirror(buffer, &recoloring, overlay, into: surface)
    }

    /// Reads the whole window.
    private func fill(
        _ target: PictureSurface, from buffer: borrowing PixelBuffer, _ recoloring: inout Recoloring?
    ) throws(ConversionError) {
        var row = 0
        while row < window.size.height {
            let rows = window.rows(from: row)
            let band = target.band(from: row, rows: rows.count)
            try window.read(rows, of: buffer, into: band)
            recoloring?.apply(to: band, into: band)
            row = rows.upperBound
        }
    }

    // MARK: Bands that stay rows

    private func mirror(
        _ buffer: borrowing PixelBuffer, _ recoloring: inout Recoloring?, _ overlay: OverlayPainter?,
        into surface: PictureSurface
    ) throws(ConversionError) {
        let height = flatSize.height
        let isFromBelow = orientation.reversesRows && (scaler != nil || !window.isInOrder)
        var done = 0
        while done < height {
            let rows = isFromBelow ? self.rows(before: height - done) : self.rows(from: done)
            let band = input.band(rows: rows.count)
            if let scaler {
                scaler.scale(rows, into: band)
            } else {
                try window.read(rows, of: buffer, into: band)
                recoloring?.apply(to: band, into: band)
            }
            finish(
                rows,
                orientation.reversesRows ? BandPlace(rows, fromBottomOf: height) : BandPlace(rows),
                overlay, into: surface)
            done += rows.count
        }
    }

    private func rows(from row: Int) -> Range<Int> {
        scaler == nil ? window.rows(from: row) : row..<min(row + Self.bandRows, flatSize.height)
    }

    private func rows(before row: Int) -> Range<Int> {
        scaler == nil ? window.rows(before: row) : (row - 1) / Self.bandRows * Self.bandRows..<row
    }

    private static let bandRows = 16

    private func finish(
        _ rows: Range<Int>, _ place: BandPlace, _ overlay: OverlayPainter?, into surface: PictureSurface
    ) {
        guard !orientation.isUpright else {
            overlay?.draw(on: input.band(rows: rows.count), at: place)
            return input.copy(to: surface, at: place)
        }
        let (width, chromaWidth) = (flatSize.width, half(flatSize.width))
        let (from, to) = (input.planes, output.planes)
        mirror(from.luma, into: to.luma, width, rows: rows.count)
        mirror(from.cb, into: to.cb, chromaWidth, rows: half(rows.count))
        mirror(from.cr, into: to.cr, chromaWidth, rows: half(rows.count))
        overlay?.draw(on: output.band(rows: rows.count), at: place)
        output.copy(to: surface, at: place)
    }

    private func mirror(
        _ source: PictureSurface.Plane, into target: PictureSurface.Plane, _ width: Int, rows: Int
    ) {
        let first = orientation.reversesRows ? source.row(rows - 1) : source.base
        let stride = Int32(orientation.reversesRows ? -source.stride : source.stride)
        let copy = orientation.reversesColumns ? MirrorPlane : CopyPlane
        copy(first, stride, target.base, Int32(target.stride), Int32(width), Int32(rows))
    }

    // MARK: Columns that become rows

    private func turn(_ source: PictureSurface, _ overlay: OverlayPainter?, into surface: PictureSurface) {
        guard case .separate(let cb, let cr) = source.chroma else {
            preconditionFailure("the picture in between is planar")
        }
        var row = 0
        while row < size.height {
            let rows = row..<min(row + Self.bandRows, size.height)
            let place = BandPlace(rows)
            turn(source.luma, source.size, place.luma, into: output.planes.luma)
            if let chromaSize = PictureSize(half(source.size.width), half(source.size.height)) {
                turn(cb, chromaSize, place.chroma, into: output.planes.cb)
                turn(cr, chromaSize, place.chroma, into: output.planes.cr)
            }
            overlay?.draw(on: output.band(rows: rows.count), at: place)
            output.copy(to: surface, at: place)
            row = rows.upperBound
        }
    }

    /// Makes rows of the turned plane from the columns of a plane of this size.
    private func turn(
        _ source: PictureSurface.Plane, _ size: PictureSize, _ rows: Range<Int>,
        into target: PictureSurface.Plane
    ) {
        let first = orientation.reversesRows ? size.width - rows.upperBound : rows.lowerBound
        // libyuv's turns reverse either columns or rows; a plane that is read from below reverses the columns once more.
        let isFromBelow = orientation.reversesRows == orientation.reversesColumns
        let rotate = orientation.reversesRows ? RotatePlane270 : RotatePlane90
        rotate(
            (isFromBelow ? source.row(size.height - 1) : source.base) + first,
            Int32(isFromBelow ? -source.stride : source.stride), target.base, Int32(target.stride),
            Int32(rows.count), Int32(size.height))
    }
}
