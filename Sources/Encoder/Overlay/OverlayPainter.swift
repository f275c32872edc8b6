import CColor
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
