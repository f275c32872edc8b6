import CYUV
import CamPictures
import CamPlatform

/// Draws an overlay's text into the bands of successive pictures.
///
/// The blend factors of each sample are recomputed when a character changes, and only for that character's
/// columns. Nothing is allocated per picture. One thread at a time may use a painter.
final class OverlayPainter {
    private let design: OverlayDesign
    private var line: OverlayLine
    /// The number of glyphs in the mask, and the columns of the box.
    private var drawn: (count: Int, columns: Int) = (0, 0)
    private let drawnGlyphs: UnsafeMutablePointer<UInt16>
    private let mask: OverlayMask
    private var origin = (x: 0, y: 0)

    init(_ design: OverlayDesign) {
        self.design = design
        line = OverlayLine(design.overlay, atlas: design.atlas, wallTime: design.wallTime)
        drawnGlyphs = .allocate(capacity: OverlayLine.capacity)
        drawnGlyphs.initialize(repeating: 0, count: OverlayLine.capacity)
        mask = OverlayMask(design)
    }

    deinit { drawnGlyphs.deallocate() }

    /// Updates the text for a picture.
    func begin(at time: Instant, frame: UInt32) {
        line.set(at: time, frame: frame)
        let atlas = design.atlas
        var width = 0
        for index in 0..<line.count { width += atlas.width(line[index]) }
        let columns = min((width + 2 * design.padding.x + 1) & ~1, design.mostColumns)
        if columns != drawn.columns || line.count != drawn.count {
            origin = design.origin(columns: columns)
            redraw(0..<columns, columns: columns)
        } else if let changed = changedColumns() {
            redraw(changed, columns: columns)
        }
        drawn = (line.count, columns)
        for index in 0..<line.count { drawnGlyphs[index] = line[index] }
    }

    /// The columns in which the line differs from the drawn line of the same total width; nil if the lines
    /// are equal.
    private func changedColumns() -> Range<Int>? {
        var (x, formerX) = (design.padding.x, design.padding.x)
        var changed: Range<Int>?
        for index in 0..<line.count {
            let (width, formerWidth) = (
                design.atlas.width(line[index]), design.atlas.width(drawnGlyphs[index])
            )
            if line[index] != drawnGlyphs[index] || x != formerX {
                let start = min(x, formerX, changed?.lowerBound ?? .max)
                changed = start..<max(x + width, formerX + formerWidth, changed?.upperBound ?? 0)
            }
            x += width
            formerX += formerWidth
        }
        return changed
    }

    private func redraw(_ range: Range<Int>, columns: Int) {
        let range = range.clamped(to: 0..<columns)
        mask.clear(range)
        var x = design.padding.x
        for index in 0..<line.count {
            let width = design.atlas.width(line[index])
            if x < range.upperBound, x + width > range.lowerBound {
                mask.draw(design.atlas.coverage(line[index]), width: width, at: x, within: range)
            }
            x += width
        }
        mask.blend(range, columns: columns)
    }

    /// Whether the text's box overlaps a band.
    func touches(_ place: BandPlace) -> Bool {
        place.luma.overlaps(origin.y..<origin.y + design.rows)
    }

    /// Draws the part of the text that overlaps a planar band, which has all columns of the picture.
    func draw(on band: PictureSurface.Band, at place: BandPlace) {
        guard case .separate(let cb, let cr) = band.chroma else {
            preconditionFailure("texts are drawn into planar bands")
        }
        let (columns, rows) = (drawn.columns, design.rows)
        let count = min(columns, band.width - origin.x)
        for row in place.luma.clamped(to: origin.y..<origin.y + rows) {
            let (keep, add) = mask.luma(row: row - origin.y)
            color_blend_row(
                band.luma.row(row - place.luma.lowerBound) + origin.x, keep, add, Int32(count))
        }
        let chromaCount = min(columns / 2, band.chromaWidth - origin.x / 2)
        for row in place.chroma.clamped(to: origin.y / 2..<(origin.y + rows) / 2) {
            let (keep, add) = mask.chroma(row: row - origin.y / 2)
            let (inBand, column) = (row - place.chroma.lowerBound, origin.x / 2)
            color_blend_row(cb.row(inBand) + column, keep, add, Int32(chromaCount))
            color_blend_row(cr.row(inBand) + column, keep, add, Int32(chromaCount))
        }
    }
}

/// The blend factors of each sample in the text's box: the share kept of the picture, and the amount added.
final class OverlayMask {
    private let design: OverlayDesign
    private let (stride, rows): (Int, Int)
    private let coverage, spread, keep, add, chromaKeep, chromaAdd: UnsafeMutablePointer<UInt8>

    init(_ design: OverlayDesign) {
        self.design = design
        (stride, rows) = (design.mostColumns, design.rows)
        func plane(_ count: Int) -> UnsafeMutablePointer<UInt8> {
            let plane = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
            plane.initialize(repeating: 0, count: count)
            return plane
        }
        (coverage, spread) = (plane(stride * rows), plane(stride * rows))
        (keep, add) = (plane(stride * rows), plane(stride * rows))
        (chromaKeep, chromaAdd) = (plane(stride * rows / 4), plane(stride * rows / 4))
    }

    deinit { for plane in [coverage, spread, keep, add, chromaKeep, chromaAdd] { plane.deallocate() } }

    typealias Row = (keep: UnsafePointer<UInt8>, add: UnsafePointer<UInt8>)

    func luma(row: Int) -> Row { (UnsafePointer(keep + row * stride), UnsafePointer(add + row * stride)) }

    func chroma(row: Int) -> Row {
        (UnsafePointer(chromaKeep + row * stride / 2), UnsafePointer(chromaAdd + row * stride / 2))
    }

    /// Erases the text in some columns.
    func clear(_ columns: Range<Int>) {
        for row in 0..<rows {
            (coverage + row * stride + columns.lowerBound).update(repeating: 0, count: columns.count)
        }
    }

    /// Draws the part of a glyph that is within the columns.
    func draw(_ glyph: UnsafePointer<UInt8>, width: Int, at x: Int, within columns: Range<Int>) {
        let visible = (x..<x + width).clamped(to: columns)
        for row in 0..<design.atlas.height {
            (coverage + (row + design.padding.y) * stride + visible.lowerBound)
                .update(from: glyph + row * width + (visible.lowerBound - x), count: visible.count)
        }
    }

    /// Computes the blend factors that depend on these columns of the text.
    func blend(_ columns: Range<Int>, columns all: Int) {
        let reach = design.overlay.box == .none ? outline : 0
        let start = max(0, columns.lowerBound - reach) & ~1
        let end = min(all, (columns.upperBound + reach + 1) & ~1)
        guard start < end else { return }
        if design.overlay.box == .none { spread(start..<end, columns: all) }
        for y in 0..<rows {
            for x in start..<end { blend(x, y) }
        }
        for y in 0..<rows / 2 {
            for x in start / 2..<end / 2 { blendChroma(x, y) }
        }
    }

    /// The outline's reach in pixels, bounded because the cost of large outlines grows with it.
    private var outline: Int { min(max(1, design.atlas.height / 16), 8) }

    /// Spreads the coverage along its rows by the outline's reach.
    private func spread(_ columns: Range<Int>, columns all: Int) {
        for y in 0..<rows {
            let (from, to) = (coverage + y * stride, spread + y * stride)
            for x in columns {
                var most: UInt8 = 0
                for column in max(0, x - outline)...min(all - 1, x + outline) {
                    most = max(most, from[column])
                }
                to[x] = most
            }
        }
    }

    private func blend(_ x: Int, _ y: Int) {
        let place = y * stride + x
        let text = Int(coverage[place])
        let back = design.overlay.box == .none ? nearby(x, y) : OverlayDesign.opacity
        let kept = ((255 - back) * (255 - text) + 127) / 255
        let black = min(255 - kept, (back * (255 - text) + 127) / 255)
        let (white, dark) = (Int(design.luma.text), Int(design.luma.back))
        keep[place] = UInt8(truncatingIfNeeded: kept)
        add[place] = UInt8(
            truncatingIfNeeded: (dark * black + white * (255 - kept - black) + 127) / 255)
    }

    /// The maximum coverage of the text within the outline's reach of a pixel.
    private func nearby(_ x: Int, _ y: Int) -> Int {
        var most: UInt8 = 0
        for row in max(0, y - outline)...min(rows - 1, y + outline) {
            most = max(most, spread[row * stride + x])
        }
        return Int(most)
    }

    /// Text and box are gray, so only the picture's share of chroma matters.
    private func blendChroma(_ x: Int, _ y: Int) {
        let place = 2 * y * stride + 2 * x
        let (upper, lower) = (keep + place, keep + place + stride)
        let kept = (Int(upper[0]) + Int(upper[1]) + Int(lower[0]) + Int(lower[1]) + 2) / 4
        chromaKeep[y * stride / 2 + x] = UInt8(truncatingIfNeeded: kept)
        chromaAdd[y * stride / 2 + x] = UInt8(truncatingIfNeeded: (128 * (255 - kept) + 127) / 255)
    }
}
