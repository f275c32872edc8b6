import CTestJPEG
import Glibc
import CamPictures
import TestSupport
import Testing

@testable import Capture
@testable import Encoder
@testable import CamConversion

/// The small luma pictures that conversions leave behind.
@Suite struct LumaSamplerTests {
    private static let sizes = [
        PictureSize(2, 2)!, PictureSize(3, 2)!, PictureSize(160, 90)!, PictureSize(161, 7)!,
        PictureSize(640, 46)!,
        PictureSize(995, 37)!, PictureSize(1922, 50)!,
    ]

    /// A level for each cell, as far apart as neighbours can be.
    private static func level(_ column: Int, _ row: Int) -> UInt8 {
        UInt8((column * 37 + row * 91) % 220 + 16)
    }

    /// Pictures in which each cell's block has one level of luma, next to chroma of any kind.
    private static func planes(_ format: PictureFormat) -> [[UInt8]] {
        let layout = LumaThumbnail.Layout(of: format.size)
        var planes = format.minimumLengths.enumerated().map { noise($0.element, seed: UInt64($0.offset + 1)) }
        let luma = format.planes[0]
        for y in 0..<format.size.height {
            for x in 0..<format.size.width {
                let level = level(x / layout.block, y / layout.block)
                let places: [Int] =
                    switch format.pixelFormat.arrangement {
                    case .packed422(let order): [2 * x + (order == .uyvy ? 1 : 0)]
                    case .rgb(let bytes, let red, let green, let blue):
                        [red, green, blue].map { bytes * x + $0 }
                    default: [x]
                    }
                for place in places { planes[0][luma.offset + y * luma.stride + place] = level }
            }
        }
        return planes
    }

    /// - Parameter first: the picture's first block, where it is a part of another.
    private func expectLevels(
        _ thumbnail: LumaThumbnail?, from first: (column: Int, row: Int) = (0, 0), tolerance: Int = 0
    ) throws {
        let thumbnail = try #require(thumbnail)
        let layout = thumbnail.layout
        for row in 0..<layout.rows {
            for column in 0..<layout.columns {
                let wanted =
                    Int(Self.level(first.column + column, first.row + row)) * LumaThumbnail.stepsPerLevel
                let cell = Int(thumbnail.cells[row * layout.columns + column])
                if abs(cell - wanted) > tolerance * LumaThumbnail.stepsPerLevel {
                    Issue.record("\(layout): cell \(column), \(row) is \(cell), not \(wanted)")
                    return
                }
            }
        }
    }

    @Test("each cell has its block's luma, whatever the format", arguments: PixelFormat.raw, sizes)
    func formats(pixelFormat: PixelFormat, size: PictureSize) throws {
        for layout in [PictureSurface.Layout.nv12, .i420] {
            let format = pixelFormat.layout(size.width, size.height)
            let converter = try PixelConverter(
                source: format, layout: layout, color: format.color, makesThumbnails: true)
            // The second picture leaves nothing of the first one's behind.
            for content in [noisePlanes(format), Self.planes(format)] {
                try converter.convert(content, into: TestSurface(layout, size: size))
            }
            try expectLevels(converter.thumbnail)
        }
    }

    private func noisePlanes(_ format: PictureFormat) -> [[UInt8]] {
        format.minimumLengths.map { noise($0, seed: 9) }
    }

    @Test("colours that change and margins that are filled leave it as the source has it")
    func source() throws {
        let format = PixelFormat.yuyv.layout(640, 46)
        let converter = try PixelConverter(
            source: format, layout: .nv12, color: .full709, makesThumbnails: true)
        let target = TestSurface(.nv12, size: format.size, padded: PictureSize(656, 48))
        try converter.convert(Self.planes(format), into: target)
        try expectLevels(converter.thumbnail)
    }

    @Test("a cell is the mean of several samples")
    func mean() throws {
        let format = PixelFormat.grey.layout(1920, 1080)
        let converter = try PixelConverter(
            source: format, layout: .nv12, color: format.color, makesThumbnails: true)
        try converter.convert([noise(1920 * 1080, seed: 3)], into: TestSurface(.nv12, size: format.size))
        let thumbnail = try #require(converter.thumbnail)
        let cells = (0..<thumbnail.layout.count).map { Double(thumbnail.cells[$0]) / 16 }
        let mean = cells.reduce(0, +) / Double(cells.count)
        let deviation = (cells.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(cells.count))
            .squareRoot()
        // Uniform samples deviate by 74; the mean of eight by 26.
        #expect(abs(mean - 127.5) < 1 && abs(deviation - 26) < 1)
    }

    @Test("fields stored one after another are woven first")
    func fields() throws {
        let size = PictureSize(640, 48)!
        let whole = PixelFormat.yuyv.layout(640, 48)
        let format = try #require(
            PictureFormat(
                .yuyv, size: size, frameRate: FrameRate(25)!, color: whole.color, isInterlaced: true,
                firstField: .top))
        let rows = Self.planes(whole)[0]
        let stride = whole.planes[0].stride
        let order = Array(Swift.stride(from: 0, to: 48, by: 2)) + Array(Swift.stride(from: 1, to: 48, by: 2))
        let converter = try PixelConverter(
            source: format, layout: .nv12, color: format.color, makesThumbnails: true)
        try converter.convert(
            [order.flatMap { rows[$0 * stride..<($0 + 1) * stride] }], into: TestSurface(.nv12, size: size))
        try expectLevels(converter.thumbnail)
    }

    @Test("a JPEG's is decoded luma")
    func jpeg() throws {
        // Blocks of eight pixels are JPEG's own.
        let size = PictureSize(1280, 48)!
        let samples = (0..<size.area).map { Self.level($0 % size.width / 8, $0 / size.width / 8) }
        let options = test_jpeg_options(
            width: 1280, height: 48, components: 1, horizontal: 1, vertical: 1, restart_rows: 0,
            progressive: 0,
            rgb: 0)
        var count = 0
        let encoded = try #require(test_jpeg_encode(samples, options, &count))
        defer { free(encoded) }
        let format = PictureFormat(.mjpeg, size: size, frameRate: FrameRate(30)!, color: .full601)!
        let converter = try PixelConverter(
            source: format, layout: .nv12, color: .full601, makesThumbnails: true)
        try converter.convert(
            [Array(UnsafeBufferPointer(start: encoded, count: count))], into: TestSurface(.nv12, size: size))
        try expectLevels(converter.thumbnail, tolerance: 3)
        let part = try PixelConverter(
            source: format, layout: .nv12, color: .full601,
            framing: Framing(crop: "1272x40+8+8", .upsideDown),
            makesThumbnails: true)
        try part.convert(
            [Array(UnsafeBufferPointer(start: encoded, count: count))],
            into: TestSurface(.nv12, size: part.size))
        try expectLevels(part.thumbnail, from: (1, 1), tolerance: 3)
    }

    @Test("it is upright and the source's, however the picture is turned, mirrored and scaled")
    func framing() throws {
        let format = PixelFormat.yuyv.layout(640, 46)
        let framings =
            Framing.orientations + [Framing(scale: "320x24"), Framing(.left, scale: "48x320")]
        for framing in framings {
            let converter = try PixelConverter(
                source: format, layout: .nv12, color: format.color, framing: framing, makesThumbnails: true)
            try converter.convert(Self.planes(format), into: TestSurface(.nv12, size: converter.size))
            try expectLevels(converter.thumbnail)
        }
    }

    @Test("of a part that is cut out, it shows nothing else")
    func part() throws {
        for pixelFormat in [PixelFormat.yuyv, .nv12, .rgb24] {
            let format = pixelFormat.layout(640, 46)
            let converter = try PixelConverter(
                source: format, layout: .nv12, color: format.color, framing: Framing(crop: "636x40+4+4"),
                makesThumbnails: true)
            try converter.convert(Self.planes(format), into: TestSurface(.nv12, size: converter.size))
            try expectLevels(converter.thumbnail, from: (1, 1))
        }
    }

    @Test("libx264's input has one of planes that are not converted, and none if nobody wants it")
    func passthrough() throws {
        for (pixelFormat, isWanted) in [
            (PixelFormat.nv12, true), (.yuv420, true), (.yuyv, true), (.nv12, false),
        ] {
            let format = pixelFormat.layout(640, 46)
            var treatment = PictureTreatment()
            treatment.leavesThumbnails = isWanted
            let input = try EncoderInputs(codecs: [.h264], treatment: treatment).memory(
                for: format, size: format.size, color: format.color)
            _ = try input.frame(for: try makeBuffer(format, Self.planes(format)), in: 0)
            if isWanted { try expectLevels(input.thumbnail) } else { #expect(input.thumbnail == nil) }
        }
    }
}
