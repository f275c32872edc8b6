import CamPictures
import Testing

@testable import Capture
@testable import Encoder
@testable import CamConversion

/// Formats that libv4lconvert reads.
@Suite struct ConversionVendorTests {
    private func format(
        _ fourCC: String, _ width: Int = 64, _ height: Int = 48, stride: Int = 0
    ) throws -> PictureFormat {
        let pixelFormat = try #require(PixelFormat(fourCC))
        #expect(pixelFormat.arrangement == .vendor)
        return try #require(
            PictureFormat(
                pixelFormat, size: PictureSize(width, height)!, frameRate: FrameRate(30)!,
                color: .limited601, strides: [stride]))
    }

    /// Every format of libv4lconvert without compression, with the bytes of a row of 720 pixels.
    static let raw: [(fourCC: String, rowBytes: Int, rows: Int)] =
        ["BA81", "GBRG", "GRBG", "RGGB", "Y04 ", "Y06 "].map { ($0, 720, 480) }
        + ["pBAA", "pGAA", "pgAA", "pRAA", "Y10B"].map { ($0, 900, 480) }
        + ["BG10", "GB10", "BA10", "RG10", "BYR2", "GB16", "GR16", "RG16", "RGBP", "Y16 "].map {
            ($0, 1440, 480)
        } + [("M420", 720, 720)]

    @Test("padded rows give the same picture as rows without padding", arguments: raw)
    func paddedRows(fourCC: String, rowBytes: Int, rows: Int) throws {
        let tight = (0..<rows).map { noise(rowBytes, seed: UInt64($0)) }
        let plain = TestSurface(.nv12, size: PictureSize(720, 480)!)
        let converter = try PixelConverter(
            source: format(fourCC, 720, 480), layout: .nv12, color: .limited601)
        try converter.convert([tight.flatMap { $0 }], into: plain)
        let expected = ReferencePicture(copying: plain)
        // A converter that wrote nothing would also give equal pictures.
        #expect(Set(expected.planes[0]).count > 16)
        for padding in [2, 48, 4096] {
            let source = try format(fourCC, 720, 480, stride: rowBytes + padding)
            let padded = tight.flatMap { $0 + noise(padding, seed: 5) }
            let surface = TestSurface(.nv12, size: source.size)
            // A driver's buffer may end with the last row's last byte.
            try PixelConverter(source: source, layout: .nv12, color: .limited601)
                .convert([padded.dropLast(padding)], into: surface)
            #expect(expected.difference(from: surface) == 0, "padding \(padding)")
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
