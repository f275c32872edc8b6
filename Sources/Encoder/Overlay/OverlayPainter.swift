import CYUV
import CamPictures
import CamPlatform

/// Draws a text into the bands of one picture after another.
///
/// What each sample keeps of its own and what is added to it is computed when a character changes, for its columns only.
/// Nothing is allocated per picture. One thread at a time may use a painter.
final class OverlayPainter {
    private let design: OverlayDesign
    private var line: OverlayLine
    /// The glyphs that are drawn, and where.
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

    /// Sets the text to that of a picture.
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

    /// The columns of the glyphs that differ from those drawn, which as a whole are as wide.
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

    /// Whether the text is on rows of a picture.
    func touches(_ place: BandPlace) -> Bool {
        place.luma.overlaps(origin.y..<origin.y + design.rows)
    }

    /// Draws what belongs there into a planar band that has all columns of the picture.
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

/// For each sample of a text's box, how much it keeps of the picture and what is added.
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

    /// Draws a glyph, as far as it is in some columns.
    func draw(_ glyph: UnsafePointer<UInt8>, width: Int, at x: Int, within columns: Range<Int>) {
        let visible = (x..<x + width).clamped(to: columns)
        for row in 0..<design.atlas.height {
            (coverage + (row + design.padding.y) * stride + visible.lowerBound)
                .update(from: glyph + row * width + (visible.lowerBound - x), count: visible.count)
        }
    }

    /// Computes the samples that columns of the text affect.
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

    /// How far an outline reaches: not further for large text, where it would take too long.
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

    /// The text's most coverage in a pixel's neighbourhood.
    private func nearby(_ x: Int, _ y: Int) -> Int {
        var most: UInt8 = 0
        for row in max(0, y - outline)...min(rows - 1, y + outline) {
            most = max(most, spread[row * stride + x])
        }
        return Int(most)
    }

    /// Text and box have no colour.
    private func blendChroma(_ x: Int, _ y: Int) {
        let place = 2 * y * stride + 2 * x
        let (upper, lower) = (keep + place, keep + place + stride)
        let kept = (Int(upper[0]) + Int(upper[1]) + Int(lower[0]) + Int(lower[1]) + 2) / 4
        chromaKeep[y * stride / 2 + x] = UInt8(truncatingIfNeeded: kept)
        chromaAdd[y * stride / 2 + x] = UInt8(truncatingIfNeeded: (128 * (255 - kept) + 127) / 255)
    }
}
