import CamPictures
import Testing

@testable import Capture
@testable import Encoder
@testable import CamConversion

/// A format's memory layout, from the kernel's descriptions of the formats.
struct RawLayout: Sendable, CustomTestStringConvertible {
    typealias Pixel = (UInt8, UInt8, UInt8)
    /// The byte of a plane's row.
    typealias Bytes = (_ plane: Int, _ row: Int, _ byte: Int) -> UInt8

    let format: PixelFormat
    /// Whether each plane has its own memory, instead of following the previous one.
    var isSeparate = false
    /// How many times luma's stride goes into chroma's, if they share memory.
    var chromaStrideFactor = 1
    /// Bytes of a row, number of rows, and how many times the stride goes into luma's.
    let planes: @Sendable (_ width: Int, _ height: Int) -> [(rowBytes: Int, rows: Int, divisor: Int)]
    /// Y, Cb and Cr, or red, green and blue.
    let pixel: @Sendable (_ bytes: Bytes, _ x: Int, _ y: Int) -> Pixel

    var testDescription: String { "\(format)" }

    static func packed(_ format: PixelFormat, y: Int, cb: Int, cr: Int) -> RawLayout {
        RawLayout(format: format, planes: { width, height in [((width + 1) / 2 * 4, height, 1)] }) {
            bytes, x, row in
            let pair = x / 2 * 4
            return (bytes(0, row, pair + y + x % 2 * 2), bytes(0, row, pair + cb), bytes(0, row, pair + cr))
        }
    }

    static func rgb(_ format: UInt32, _ size: Int, _ red: Int, _ green: Int, _ blue: Int) -> RawLayout {
        RawLayout(
            format: PixelFormat(rawValue: format), planes: { width, height in [(width * size, height, 1)] }
        ) { bytes, x, y in
            (bytes(0, y, x * size + red), bytes(0, y, x * size + green), bytes(0, y, x * size + blue))
        }
    }

    static func semiPlanar(
        _ format: PixelFormat, _ across: Int = 2, _ down: Int = 2, cb: Int, separate: Bool = false
    ) -> RawLayout {
        RawLayout(
            format: format, isSeparate: separate, chromaStrideFactor: 2 / across,
            planes: { width, height in
                [(width, height, 1), ((width + across - 1) / across * 2, (height + down - 1) / down, 1)]
            }
        ) { bytes, x, y in
            let pair = x / across * 2
            return (bytes(0, y, x), bytes(1, y / down, pair + cb), bytes(1, y / down, pair + 1 - cb))
        }
    }

    static func planar(
        _ format: PixelFormat, _ across: Int, _ down: Int, cb: Int = 1, separate: Bool = false
    ) -> RawLayout {
        RawLayout(
            format: format, isSeparate: separate,
            planes: { width, height in
                let chroma = ((width + across - 1) / across, (height + down - 1) / down, across)
                return [(width, height, 1), chroma, chroma]
            }
        ) { bytes, x, y in
            (bytes(0, y, x), bytes(cb, y / down, x / across), bytes(3 - cb, y / down, x / across))
        }
    }

    static let yCbCr: [RawLayout] = [
        .packed(.yuyv, y: 0, cb: 1, cr: 3),
        .packed(.uyvy, y: 1, cb: 0, cr: 2),
        .packed(.yvyu, y: 0, cb: 3, cr: 1),
        .semiPlanar(.nv12, cb: 0),
        .semiPlanar(.nv21, cb: 1),
        .semiPlanar(.nv12MultiPlanar, cb: 0, separate: true),
        .semiPlanar(.nv21MultiPlanar, cb: 1, separate: true),
        .semiPlanar(.nv16, 2, 1, cb: 0),
        .semiPlanar(.nv61, 2, 1, cb: 1),
        .semiPlanar(.nv16MultiPlanar, 2, 1, cb: 0, separate: true),
        .semiPlanar(.nv61MultiPlanar, 2, 1, cb: 1, separate: true),
        .semiPlanar(.nv24, 1, 1, cb: 0),
        .semiPlanar(.nv42, 1, 1, cb: 1),
        .planar(.yuv420, 2, 2),
        .planar(.yvu420, 2, 2, cb: 2),
        .planar(.yuv420MultiPlanar, 2, 2, separate: true),
        .planar(.yvu420MultiPlanar, 2, 2, cb: 2, separate: true),
        .planar(.yuv422Planar, 2, 1),
        .planar(.yuv444Planar, 1, 1),
        RawLayout(format: .grey, planes: { width, height in [(width, height, 1)] }) { bytes, x, y in
            (bytes(0, y, x), 128, 128)
        },
    ]

    private static func fourCC(_ text: String) -> UInt32 {
        text.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    static let rgb: [RawLayout] = [
        .rgb(fourCC("RGB3"), 3, 0, 1, 2),
        .rgb(fourCC("BGR3"), 3, 2, 1, 0),
        .rgb(fourCC("BGR4"), 4, 2, 1, 0),
        .rgb(fourCC("XR24"), 4, 2, 1, 0),
        .rgb(fourCC("AR24"), 4, 2, 1, 0),
        .rgb(fourCC("RGB4"), 4, 1, 2, 3),
        .rgb(fourCC("BX24"), 4, 1, 2, 3),
        .rgb(fourCC("BA24"), 4, 1, 2, 3),
        .rgb(fourCC("XB24"), 4, 0, 1, 2),
        .rgb(fourCC("AB24"), 4, 0, 1, 2),
        .rgb(fourCC("RX24"), 4, 3, 2, 1),
        .rgb(fourCC("RA24"), 4, 3, 2, 1),
    ]
}

/// A picture of noise, as a camera buffer and as a function of the position.
struct RawPicture {
    let format: PictureFormat
    let memory: [[UInt8]]
    /// What the driver reports for each memory plane.
    let strides: [Int]?
    let pixel: (_ x: Int, _ y: Int) -> RawLayout.Pixel

    /// - Parameter padding: padding bytes in the rows of the first plane.
    init(_ layout: RawLayout, _ width: Int, _ height: Int, padding: Int, color: ColorEncoding) throws {
        let planes = layout.planes(width, height)
        let strides = planes.enumerated().map { number, plane in
            layout.isSeparate || padding == 0
                ? plane.rowBytes + padding
                : (planes[0].rowBytes + padding) / plane.divisor
                    * (number == 0 ? 1 : layout.chromaStrideFactor)
        }
        var memory: [[UInt8]] = []
        var starts: [(memory: Int, offset: Int)] = []
        for (number, plane) in planes.enumerated() {
            if number == 0 || layout.isSeparate { memory.append([]) }
            let bytes = noise(strides[number] * plane.rows, seed: UInt64(width * 31 + height * 7 + number))
            starts.append((memory.count - 1, memory[memory.count - 1].count))
            memory[memory.count - 1] += bytes
        }
        // A driver's buffer may end with the last row's last byte.
        for (number, plane) in planes.enumerated() where layout.isSeparate || number == planes.count - 1 {
            memory[layout.isSeparate ? number : 0].removeLast(strides[number] - plane.rowBytes)
        }
        let bytes = memory
        pixel = { x, y in
            layout.pixel({ bytes[starts[$0].memory][starts[$0].offset + $1 * strides[$0] + $2] }, x, y)
        }
        self.memory = memory
        self.strides = padding == 0 ? nil : layout.isSeparate ? strides : [strides[0]]
        format = try #require(
            PictureFormat(
                layout.format, size: PictureSize(width, height)!, frameRate: FrameRate(30)!, color: color,
                strides: self.strides))
    }

    /// The same picture with one field after the other in each plane.
    func separated(_ first: PictureFormat.Field) throws -> (PictureFormat, [[UInt8]]) {
        var separated = memory
        for plane in format.planes {
            for row in 0..<plane.rows {
                let isInFirst = (row % 2 == 0) == (first == .top)
                let target = plane.offset + ((isInFirst ? 0 : plane.rows / 2) + row / 2) * plane.stride
                let source = plane.offset + row * plane.stride
                for byte in 0..<plane.rowBytes {
                    separated[plane.memoryPlane][target + byte] = memory[plane.memoryPlane][source + byte]
                }
            }
        }
        let other = try #require(
            PictureFormat(
                format.pixelFormat, size: format.size, frameRate: format.frameRate, color: format.color,
                isInterlaced: true, firstField: first, strides: strides))
        return (other, separated)
    }

    func converted(to surface: TestSurface, color: ColorEncoding) throws {
        let converter = try PixelConverter(source: format, layout: surface.layout, color: color)
        try converter.convert(memory, into: surface)
    }
}

private let sizes = [
    PictureSize(64, 48)!, PictureSize(320, 34)!, PictureSize(54, 50)!, PictureSize(63, 47)!,
    PictureSize(33, 18)!, PictureSize(1, 1)!, PictureSize(3, 2)!, PictureSize(2, 3)!, PictureSize(161, 35)!,
]

@Suite struct ConversionRawTests {
    @Test(arguments: RawLayout.yCbCr, sizes)
    func yCbCrIsBitExact(layout: RawLayout, size: PictureSize) throws {
        for padding in [0, 32] {
            let picture = try RawPicture(
                layout, size.width, size.height, padding: padding, color: .limited601)
            let expected = ReferencePicture(size: size, rounded: true) { x, y in
                let (luma, cb, cr) = picture.pixel(x, y)
                return (Double(luma), Double(cb), Double(cr))
            }
            for target in [PictureSurface.Layout.nv12, .i420] {
                let surface = TestSurface(target, size: size, gap: padding)
                try picture.converted(to: surface, color: .limited601)
                #expect(expected.difference(from: surface) == 0, "\(target), padding \(padding)")
                #expect(surface.isGapUntouched, "\(target), padding \(padding)")
            }
        }
    }

    @Test(
        arguments: RawLayout.rgb, [ColorEncoding.limited601, .limited709, .full601, .full709, .limited2020])
    func rgbIsWithinOneStep(layout: RawLayout, color: ColorEncoding) throws {
        for (size, padding) in [(sizes[0], 0), (sizes[3], 32), (sizes[5], 0), (sizes[8], 8)] {
            let picture = try RawPicture(layout, size.width, size.height, padding: padding, color: .full601)
            let expected = ReferencePicture(size: size, rounded: false) { x, y in
                let (red, green, blue) = picture.pixel(x, y)
                return ReferenceColor.yCbCr(Double(red), Double(green), Double(blue), color)
            }
            for target in [PictureSurface.Layout.nv12, .i420] {
                let surface = TestSurface(target, size: size, gap: padding)
                try picture.converted(to: surface, color: color)
                #expect(expected.difference(from: surface) <= 1, "\(target), \(size)")
                #expect(surface.isGapUntouched)
            }
        }
    }

    @Test func greyRGBHasNoColor() throws {
        let size = PictureSize(256, 2)!
        let layout = RawLayout.rgb[0]
        let format = try RawPicture(layout, 256, 2, padding: 0, color: .full601).format
        let bytes = (0..<512).flatMap { Array(repeating: UInt8($0 % 256), count: 3) }
        for color in [ColorEncoding.limited601, .limited709, .full601, .full709] {
            let surface = TestSurface(.nv12, size: size)
            let converter = try PixelConverter(source: format, layout: .nv12, color: color)
            try converter.convert([bytes], into: surface)
            for x in 0..<128 {
                #expect(surface.sample(1, x, 0) == 128 && surface.sample(2, x, 0) == 128)
            }
            #expect(surface.sample(0, 0, 0) == (color.range == .full ? 0 : 16))
            #expect(surface.sample(0, 255, 0) == (color.range == .full ? 255 : 235))
        }
    }

    @Test(
        arguments: [ColorEncoding.limited601, .limited709, .full601, .full709],
        [ColorEncoding.limited601, .limited709, .full601, .full709, .limited2020])
    func colorChangesAreWithinOneStep(from: ColorEncoding, to: ColorEncoding) throws {
        for (layout, size) in [(RawLayout.yCbCr[0], sizes[3]), (.yCbCr[13], sizes[2]), (.yCbCr[3], sizes[5])]
        {
            let picture = try RawPicture(layout, size.width, size.height, padding: 0, color: from)
            let expected = ReferencePicture(size: size, rounded: true) { x, y in
                let (luma, cb, cr) = picture.pixel(x, y)
                return (Double(luma), Double(cb), Double(cr))
            }.recolored(from: from, to: to)
            for target in [PictureSurface.Layout.nv12, .i420] {
                let surface = TestSurface(target, size: size, gap: 16)
                try picture.converted(to: surface, color: to)
                #expect(expected.difference(from: surface) <= 1, "\(target), \(size)")
                #expect(surface.isGapUntouched)
            }
        }
    }

    @Test(arguments: RawLayout.yCbCr + RawLayout.rgb, [PictureSurface.Layout.nv12, .i420])
    func marginRepeatsTheEdge(layout: RawLayout, target: PictureSurface.Layout) throws {
        for size in sizes {
            let padded = PictureSize((size.width + 15) / 16 * 16, (size.height + 15) / 16 * 16)!
            let picture = try RawPicture(layout, size.width, size.height, padding: 0, color: .limited709)
            let plain = TestSurface(target, size: size)
            try picture.converted(to: plain, color: .limited709)
            let surface = TestSurface(target, size: size, padded: padded, gap: 16)
            try picture.converted(to: surface, color: .limited709)
            let expected = ReferencePicture(copying: plain)
            #expect(expected.difference(from: surface) == 0, "\(size)")
            #expect(surface.isGapUntouched)
        }
    }

    @Test("interleaves fields that lie one after the other", arguments: RawLayout.yCbCr + RawLayout.rgb)
    func fields(layout: RawLayout) throws {
        for (size, padding) in [(PictureSize(64, 48)!, 0), (PictureSize(54, 52)!, 32)] {
            let woven = try RawPicture(layout, size.width, size.height, padding: padding, color: .limited601)
            let expected = TestSurface(.nv12, size: size)
            try woven.converted(to: expected, color: .limited709)
            for first in [PictureFormat.Field.top, .bottom] {
                let (format, memory) = try woven.separated(first)
                let surface = TestSurface(.nv12, size: size)
                try PixelConverter(source: format, layout: .nv12, color: .limited709)
                    .convert(memory, into: surface)
                #expect(ReferencePicture(copying: expected).difference(from: surface) == 0, "\(first)")
                #expect(PassthroughLayout(format, color: .limited601) == nil)
            }
        }
    }

    @Test func bufferOfAnotherFormatIsRefused() throws {
        let picture = try RawPicture(.yCbCr[0], 64, 48, padding: 0, color: .limited601)
        let other = try RawPicture(.yCbCr[0], 32, 24, padding: 0, color: .limited601)
        let converter = try PixelConverter(source: picture.format, layout: .nv12, color: .limited601)
        let surface = TestSurface(.nv12, size: picture.format.size)
        #expect(throws: ConversionError.mismatched("the stream's format changed")) {
            try converter.convert(other.memory, of: other.format, into: surface)
        }
    }

    @Test func h264IsRefused() throws {
        let format = try #require(
            PictureFormat(
                .h264, size: PictureSize(64, 48)!, frameRate: FrameRate(30)!, color: .limited601))
        #expect(throws: ConversionError.unsupported(.h264, "it is H.264 already")) {
            try PixelConverter(source: format, layout: .nv12, color: .limited601)
        }
    }
}
