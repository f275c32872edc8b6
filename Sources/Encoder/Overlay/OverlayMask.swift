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
