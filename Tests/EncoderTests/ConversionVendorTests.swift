import Testing

@testable import Capture
@testable import Encoder

/// Formats that libv4lconvert reads.
@Suite struct ConversionVendorTests {
    private func format(_ fourCC: String, _ width: Int = 64, _ height: Int = 48) throws -> PictureFormat {
        let pixelFormat = try #require(PixelFormat(fourCC))
        #expect(pixelFormat.arrangement == .vendor)
        return try #require(
            PictureFormat(
                pixelFormat, size: PictureSize(width, height)!, frameRate: FrameRate(30)!,
                color: .limited601))
    }

    /// NV16 is 4:2:2, of which libv4lconvert keeps a chroma row of two or their mean.
    @Test func semiPlanar422IsRead() throws {
        let format = try format("NV16")
        let luma = noise(64 * 48, seed: 1)
        let chroma = (0..<48).flatMap { row in noise(64, seed: UInt64(row / 2 + 2)) }
        let expected = ReferencePicture(size: format.size, rounded: true) { x, y in
            let pair = y * 64 + x / 2 * 2
            return (Double(luma[y * 64 + x]), Double(chroma[pair]), Double(chroma[pair + 1]))
        }
        for layout in [PictureSurface.Layout.nv12, .i420] {
            let surface = TestSurface(layout, size: format.size, padded: PictureSize(64, 64)!)
            let converter = try PixelConverter(source: format, layout: layout, color: .limited601)
            try converter.convert([luma + chroma], into: surface)
            #expect(expected.difference(from: surface) == 0)
        }
    }

    @Test func bayerOfOneColorIsThatColor() throws {
        let format = try format("BA81")
        // Blue in the first row's first pixel, red in the second row's second: SBGGR8.
        let bytes = (0..<48).flatMap { y in (0..<64).map { x in UInt8(y % 2 == 1 && x % 2 == 1 ? 200 : 0) } }
        let surface = TestSurface(.nv12, size: format.size)
        let converter = try PixelConverter(source: format, layout: .nv12, color: .limited601)
        try converter.convert([bytes], into: surface)
        let (luma, cb, cr) = ReferenceColor.yCbCr(200, 0, 0, .limited601)
        #expect(abs(Double(surface.sample(0, 30, 30)) - luma) < 4)
        #expect(abs(Double(surface.sample(1, 15, 15)) - cb) < 4)
        #expect(abs(Double(surface.sample(2, 15, 15)) - cr) < 4)
    }

    @Test(arguments: ["BA81", "Y16 ", "RGBP", "BG10", "pBAA", "P207", "S561", "PJPG"])
    func shortAndRandomFramesDoNoHarm(fourCC: String) throws {
        let format = try format(fourCC)
        let converter = try PixelConverter(source: format, layout: .nv12, color: .limited601)
        let surface = TestSurface(.nv12, size: format.size)
        for count in [1, 7, 100, 64 * 48 - 1, 64 * 48 * 2] {
            do {
                try converter.convert([noise(count, seed: UInt64(count))], into: surface)
            } catch ConversionError.corrupt(let message) {
                #expect(!message.contains("\n"))
            }
        }
    }

    @Test func shortFramesAreCorrupt() throws {
        let format = try format("BA81")
        let converter = try PixelConverter(source: format, layout: .nv12, color: .limited601)
        let surface = TestSurface(.nv12, size: format.size)
        #expect(throws: ConversionError.self) {
            try converter.convert([noise(64 * 47, seed: 1)], into: surface)
        }
    }

    @Test func unknownFormatsAndOddSizesAreRefused() throws {
        for fourCC in ["ZZZZ", "HSV3", "JPGL"] {
            let unknown = try format(fourCC)
            let error = ConversionError.unsupported(
                unknown.pixelFormat, "neither camrec nor libv4lconvert can read it")
            #expect(throws: error) {
                try PixelConverter(source: unknown, layout: .nv12, color: .limited601)
            }
        }
        let odd = try format("BA81", 63)
        #expect(throws: ConversionError.self) {
            try PixelConverter(source: odd, layout: .nv12, color: .limited601)
        }
    }
}
