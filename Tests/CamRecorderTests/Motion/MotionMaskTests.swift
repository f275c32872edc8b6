import CamConversion
import CamPictures
import Testing

@testable import CamRecorder

/// Masks in files.
@Suite struct MotionMaskTests {
    private static func mask(_ width: Int, _ height: Int, _ levels: [UInt8]) -> MotionMask? {
        PictureSize(width, height).flatMap { GrayPicture(size: $0, levels: levels) }.map { MotionMask($0) }
    }

    @Test(
        "reads portable greymaps, plain and raw, with comments and up to 16 bits",
        arguments: [
            ("P5 2 1 255\n", [0, 255]), ("P5\n# made by hand\n2 1\n#\n255 ", [0, 255]),
            ("P2\n2 1\n255\n0 255\n", []), ("P2 2 1 1 0 1", []), ("P5 2 1 65535\n", [0, 0, 255, 255]),
            ("P5 2 1 255\n", [0, 255, 7, 7]),
        ] as [(String, [UInt8])])
    func greymaps(text: String, samples: [UInt8]) throws {
        #expect(try GrayPicture(pgm: Array(text.utf8) + samples)?.levels == [0, 255])
    }

    @Test(
        "refuses damaged ones",
        arguments: [
            ("P5", .badHeader), ("P5 2", .badHeader), ("P5 0 1 255\n", .badHeader),
            ("P5 -2 1 255\n", .badHeader),
            ("P5 2 1 0\n..", .badHeader), ("P5 2 1 65536\n..", .badHeader), ("P5 16385 1 255\n", .badHeader),
            ("P5 99999999999999999999 1 255\n", .badHeader), ("P5 2 1 255\n.", .incomplete),
            ("P5 2 1 255", .incomplete), ("P5 16384 16384 255\n.", .incomplete),
            ("P5 2 1 300\n...", .incomplete),
            ("P2 2 1 255\n0", .incomplete), ("P2 2 1 255\n0 256", .incomplete),
            ("P2 2 1 255\n0 x", .incomplete),
            ("P5 # no end", .badHeader),
        ] as [(String, MaskFileError)])
    func damaged(text: String, error: MaskFileError) {
        #expect(throws: error) { try GrayPicture(pgm: Array(text.utf8)) }
    }

    @Test("leaves other files to others", arguments: ["", "P", "P6 2 1 255\n......", "GIF89a", "5"])
    func others(text: String) throws { #expect(try GrayPicture(pgm: Array(text.utf8)) == nil) }

    @Test("is stretched to the picture")
    func stretched() throws {
        let mask = try #require(Self.mask(2, 2, [0, 255, 255, 0]))
        let size = try #require(PictureSize(1283, 721))
        let layout = LumaThumbnail.Layout(of: size)
        for cell in 0..<layout.count {
            let (column, row) = (cell % layout.columns, cell / layout.columns)
            let isLeft = column < layout.columns / 2
            let isUpper = row < layout.rows / 2
            // The middle ones may be in either.
            if abs(2 * column + 1 - layout.columns) < 2 || abs(2 * row + 1 - layout.rows) < 2 { continue }
            #expect(mask.ignores(cell: cell, of: layout, in: WatchedPart(size)) == (isLeft == isUpper))
        }
    }

    @Test("knows whether it ignores everything")
    func empty() {
        #expect(Self.mask(2, 1, [0, 127])?.isEmpty == true)
        #expect(Self.mask(2, 1, [0, 128])?.isEmpty == false)
        #expect(Self.mask(2, 1, [0]) == nil)
    }
}
