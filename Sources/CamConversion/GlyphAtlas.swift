import CGlyphs

/// The glyphs of a font at one size, as coverage from 0 to 255. Immutable: conversions on several threads may
/// share an atlas.
final class GlyphAtlas: @unchecked Sendable {
    // Safe to share: written by the initializer only.
    /// The number of rows in each glyph.
    let height: Int
    /// The width of each glyph in columns, and its offset in `memory`.
    private let glyphs: [(width: Int, offset: Int)]
    /// The glyph of each character of Latin-1; a question mark replaces missing characters.
    private let latin: [UInt16]
    private let others: [Unicode.Scalar: UInt16]
    private let memory: UnsafeMutablePointer<UInt8>

    /// A drawn character: its width in columns, and its coverage row by row.
    typealias Drawing = (width: Int, coverage: [UInt8])

    /// - Parameters:
    ///   - characters: the characters needed in addition to ASCII, which dates use.
    ///   - draw: draws a character, or returns nil if the font lacks the character.
    private init(
        height: Int, _ characters: some Sequence<Unicode.Scalar>, draw: (Unicode.Scalar) -> Drawing?
    ) {
        self.height = height
        var (glyphs, coverage): ([(Int, Int)], [UInt8]) = ([], [])
        var numbers: [Unicode.Scalar: UInt16] = [:]
        let ascii = (0x20..<0x7f).compactMap(Unicode.Scalar.init(_:) as (UInt8) -> Unicode.Scalar)
        for character in ascii + characters where numbers[character] == nil {
            guard let drawing = draw(character) else { continue }
            numbers[character] = UInt16(clamping: glyphs.count)
            glyphs.append((drawing.width, coverage.count))
            coverage += drawing.coverage
        }
        self.glyphs = glyphs
        others = numbers
        latin = (UInt8.min...UInt8.max).map { numbers[Unicode.Scalar($0)] ?? numbers["?"] ?? 0 }
        memory = .allocate(capacity: max(1, coverage.count))
        memory.initialize(from: coverage, count: coverage.count)
    }

    deinit { memory.deallocate() }

    /// The glyph of an ASCII character, or a question mark if the font lacks the character.
    func glyph(_ byte: UInt8) -> UInt16 { latin[Int(byte)] }

    /// The glyph of any character, or a question mark if the font lacks the character.
    func glyph(_ character: Unicode.Scalar) -> UInt16 { others[character] ?? glyph(0x3f) }

    /// The width of a glyph in columns.
    func width(_ glyph: UInt16) -> Int { glyphs[Int(glyph)].width }

    /// The coverage of a glyph: `height` rows of `width(_:)` columns.
    func coverage(_ glyph: UInt16) -> UnsafePointer<UInt8> {
        UnsafePointer(memory + glyphs[Int(glyph)].offset)
    }

    // MARK: Fonts

    /// The built-in font, scaled to a height.
    static func builtIn(height: Int, _ characters: some Sequence<Unicode.Scalar>) -> GlyphAtlas {
        let (rows, columns) = (Int(GLYPHS_FIXED_HEIGHT), Int(GLYPHS_FIXED_WIDTH))
        let width = max(1, (height * columns + rows / 2) / rows)
        let (across, down) = (Shares(of: columns, in: width), Shares(of: rows, in: height))
        return GlyphAtlas(height: height, characters) { character in
            guard let bitmap = glyphs_fixed(character.value) else { return nil }
            var coverage: [UInt8] = []
            coverage.reserveCapacity(width * height)
            for y in 0..<height {
                for x in 0..<width {
                    var sum = 0.0
                    for (row, rowShare) in down.parts[y] {
                        for (column, share) in across.parts[x]
                        where bitmap[row] >> (columns - 1 - column) & 1 == 1 {
                            sum += rowShare * share
                        }
                    }
                    coverage.append(UInt8(min(255, (sum * 255).rounded())))
                }
            }
            return (width, coverage)
        }
    }

    /// For each pixel of the scaled result, the bitmap's pixels it overlaps and the share of each.
    private struct Shares {
        let parts: [[(index: Int, share: Double)]]

        init(of source: Int, in target: Int) {
            let step = Double(source) / Double(target)
            parts = (0..<target).map { index in
                let (start, end) = (Double(index) * step, Double(index + 1) * step)
                return (Int(start)..<min(source, Int(end.rounded(.up)))).map { part in
                    let shared = min(end, Double(part + 1)) - max(start, Double(part))
                    return (part, max(0, shared) / step)
                }
            }
        }
    }

    /// Draws the glyphs from a font file, for lines of this height.
    /// - Throws: if FreeType cannot read the file, or the font has no usable letters.
    static func file(
        _ path: String, height: Int, _ characters: some Sequence<Unicode.Scalar>
    ) throws(PictureRequestError) -> GlyphAtlas {
        var face: OpaquePointer?
        let problem = glyphs_open(path, Int32(height), &face)
        guard let face else {
            let reason = problem.map { String(cString: $0) } ?? "unknown"
            throw PictureRequestError("--overlay-font \(path): \(reason), or leave the option out")
        }
        defer { glyphs_close(face) }
        let atlas = GlyphAtlas(height: height, characters) { character in
            var bitmap = glyphs_bitmap()
            guard glyphs_draw(face, character.value, &bitmap) == 0 else { return nil }
            return drawing(bitmap, height: height)
        }
        guard atlas.others["?"] != nil else {
            throw PictureRequestError(
                "--overlay-font \(path): it has no letters that can be drawn; use another, or leave the option out"
            )
        }
        return atlas
    }

    /// Renders a bitmap into the glyph's cell. Parts that overhang the cell are cut off.
    private static func drawing(_ bitmap: glyphs_bitmap, height: Int) -> Drawing {
        let width = min(max(1, Int(bitmap.advance)), 4 * height)
        var coverage = [UInt8](repeating: 0, count: width * height)
        guard let source = bitmap.coverage else { return (width, coverage) }
        for row in 0..<Int(bitmap.rows) {
            let y = row + Int(bitmap.top)
            guard (0..<height).contains(y) else { continue }
            for column in 0..<Int(bitmap.width) {
                let x = column + Int(bitmap.left)
                guard (0..<width).contains(x) else { continue }
                coverage[y * width + x] = source[row * Int(bitmap.stride) + column]
            }
        }
        return (width, coverage)
    }
}
