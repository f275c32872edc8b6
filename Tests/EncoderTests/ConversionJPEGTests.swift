import CTestJPEG
import Glibc
import CamPictures
import Testing

@testable import Capture
@testable import Encoder
@testable import CamConversion

/// A JPEG made by libjpeg, with the result of decoding it normally.
private struct TestJPEG {
    let bytes: [UInt8]
    let size: PictureSize
    private let samples: [UInt8]
    private let components: Int

    struct Sampling: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var components: Int32 = 3
        let horizontal: Int32
        let vertical: Int32

        static let all = [
            Sampling(testDescription: "4:2:0", horizontal: 2, vertical: 2),
            Sampling(testDescription: "4:2:2", horizontal: 2, vertical: 1),
            Sampling(testDescription: "4:4:4", horizontal: 1, vertical: 1),
            Sampling(testDescription: "4:4:0", horizontal: 1, vertical: 2),
            Sampling(testDescription: "4:1:1", horizontal: 4, vertical: 1),
            Sampling(testDescription: "4:1:0", horizontal: 4, vertical: 2),
            Sampling(testDescription: "grey", components: 1, horizontal: 1, vertical: 1),
            Sampling(testDescription: "grey 2x2", components: 1, horizontal: 2, vertical: 2),
        ]
    }

    init(
        _ size: PictureSize, _ sampling: Sampling = Sampling.all[1], restartRows: Int32 = 0,
        progressive: Bool = false, rgb: Bool = false, seed: UInt64 = 1
    ) {
        self.size = size
        components = Int(sampling.components)
        // Slopes with some noise: every frequency, but nothing that JPEG would clip.
        var picture = noise(size.area * components, seed: seed)
        for index in picture.indices {
            let (x, y) = (index / components % size.width, index / components / size.width)
            picture[index] = UInt8((x * 3 + y * 2 + index % components * 60 + Int(picture[index]) / 8) % 256)
        }
        let options = test_jpeg_options(
            width: Int32(size.width), height: Int32(size.height), components: sampling.components,
            horizontal: sampling.horizontal, vertical: sampling.vertical, restart_rows: restartRows,
            progressive: progressive ? 1 : 0, rgb: rgb ? 1 : 0)
        var count = 0
        let encoded = test_jpeg_encode(picture, options, &count)!
        bytes = Array(UnsafeBufferPointer(start: encoded, count: count))
        free(encoded)
        var decoded = [UInt8](repeating: 0, count: size.area * components)
        if !rgb {
            #expect(test_jpeg_decode(bytes, bytes.count, &decoded) == 0)
        }
        samples = decoded
    }

    var reference: ReferencePicture {
        ReferencePicture(size: size, rounded: true) { x, y in
            let pixel = (y * size.width + x) * components
            guard components == 3 else { return (Double(samples[pixel]), 128, 128) }
            return (Double(samples[pixel]), Double(samples[pixel + 1]), Double(samples[pixel + 2]))
        }
    }

    /// The bytes without segments of one kind.
    func without(marker: UInt8) -> [UInt8] {
        var result = Array(bytes[..<2])
        var position = 2
        while bytes[position + 1] != 0xDA {
            let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
            if bytes[position + 1] != marker { result += bytes[position..<position + 2 + length] }
            position += 2 + length
        }
        return result + bytes[position...]
    }
}

/// A converter of one stream of JPEGs.
private struct JPEGStream {
    let format: PictureFormat
    let converter: PixelConverter
    let color: ColorEncoding

    init(
        _ size: PictureSize, layout: PictureSurface.Layout = .nv12, color: ColorEncoding = .full601
    ) throws {
        format = try #require(
            PictureFormat(.mjpeg, size: size, frameRate: FrameRate(30)!, color: .full601))
        converter = try PixelConverter(source: format, layout: layout, color: color)
        self.color = color
    }

    func convert(_ bytes: [UInt8], into surface: TestSurface) throws {
        try converter.convert([bytes], into: surface)
    }

    /// The error that these bytes lead to, if any.
    func failure(of bytes: [UInt8]) throws -> ConversionError? {
        do {
            try convert(bytes, into: TestSurface(converter.layout, size: format.size))
            return nil
        } catch let error as ConversionError {
            return error
        }
    }
}

@Suite struct ConversionJPEGTests {
    private let sizes = [
        PictureSize(64, 48)!, PictureSize(320, 72)!, PictureSize(54, 50)!, PictureSize(63, 47)!,
        PictureSize(1, 1)!, PictureSize(161, 35)!,
    ]

    @Test(arguments: TestJPEG.Sampling.all, [PictureSurface.Layout.nv12, .i420])
    private func everySubsamplingIsBitExact(
        sampling: TestJPEG.Sampling, layout: PictureSurface.Layout
    ) throws {
        for size in sizes {
            let jpeg = TestJPEG(size, sampling)
            let padded = PictureSize((size.width + 15) / 16 * 16, (size.height + 15) / 16 * 16)!
            let stream = try JPEGStream(size, layout: layout)
            for surface in [
                TestSurface(layout, size: size), TestSurface(layout, size: size, padded: padded, gap: 16),
            ] {
                try stream.convert(jpeg.bytes, into: surface)
                #expect(jpeg.reference.difference(from: surface) == 0, "\(size)")
                #expect(surface.isGapUntouched)
            }
        }
    }

    @Test func restartMarkersAndProgressiveScansAreRead() throws {
        let size = PictureSize(96, 80)!
        for jpeg in [TestJPEG(size, restartRows: 1), TestJPEG(size, progressive: true)] {
            let surface = TestSurface(.nv12, size: size)
            try JPEGStream(size).convert(jpeg.bytes, into: surface)
            #expect(jpeg.reference.difference(from: surface) == 0)
        }
    }

    /// As sent by cameras with an AVI1 header.
    @Test func missingHuffmanTablesAreTheStandardOnes() throws {
        let jpeg = TestJPEG(PictureSize(96, 80)!)
        let bytes = jpeg.without(marker: 0xC4)
        #expect(bytes.count < jpeg.bytes.count)
        let surface = TestSurface(.nv12, size: jpeg.size)
        try JPEGStream(jpeg.size).convert(bytes, into: surface)
        #expect(jpeg.reference.difference(from: surface) == 0)
    }

    @Test func colorIsChangedWithinOneStep() throws {
        let jpeg = TestJPEG(PictureSize(63, 47)!)
        for color in [ColorEncoding.limited601, .limited709] {
            let surface = TestSurface(.nv12, size: jpeg.size)
            try JPEGStream(jpeg.size, color: color).convert(jpeg.bytes, into: surface)
            let expected = jpeg.reference.recolored(from: .full601, to: color)
            #expect(expected.difference(from: surface) <= 1)
        }
    }

    @Test func missingEndMarkerIsNoDamage() throws {
        let jpeg = TestJPEG(PictureSize(96, 80)!)
        let surface = TestSurface(.nv12, size: jpeg.size)
        try JPEGStream(jpeg.size).convert(Array(jpeg.bytes.dropLast(2)), into: surface)
        #expect(jpeg.reference.difference(from: surface) == 0)
    }

    @Test(arguments: [0, 1] as [Int32])
    func cutPicturesAreCorruptAndTheNextIsWhole(restartRows: Int32) throws {
        let jpeg = TestJPEG(PictureSize(192, 128)!, restartRows: restartRows)
        let stream = try JPEGStream(jpeg.size)
        for count in stride(from: 0, to: jpeg.bytes.count - 64, by: 64) {
            let failure = try stream.failure(of: Array(jpeg.bytes[..<count]))
            guard case .corrupt = failure else {
                Issue.record("cut after \(count) of \(jpeg.bytes.count) bytes: \(failure as Any)")
                continue
            }
        }
        let surface = TestSurface(.nv12, size: jpeg.size)
        try stream.convert(jpeg.bytes, into: surface)
        #expect(jpeg.reference.difference(from: surface) == 0)
    }

    /// A flipped bit may have any effect, except on the next picture.
    @Test(arguments: [false, true])
    func flippedBitsDoNoHarm(progressive: Bool) throws {
        let jpeg = TestJPEG(PictureSize(96, 80)!, progressive: progressive)
        let stream = try JPEGStream(jpeg.size, color: .limited709)
        let expected = jpeg.reference.recolored(from: .full601, to: .limited709)
        var failures = 0
        for (position, bit) in zip(jpeg.bytes.indices, noise(jpeg.bytes.count, seed: 7)) {
            var bytes = jpeg.bytes
            bytes[position] ^= 1 << (bit % 8)
            if try stream.failure(of: bytes) != nil { failures += 1 }
            guard position % 256 == 0 else { continue }
            let surface = TestSurface(.nv12, size: jpeg.size)
            try stream.convert(jpeg.bytes, into: surface)
            #expect(expected.difference(from: surface) <= 1)
        }
        #expect(failures > 0)
    }

    @Test func noiseInAQuarterOfThePictureIsCorrupt() throws {
        let jpeg = TestJPEG(PictureSize(192, 128)!)
        let stream = try JPEGStream(jpeg.size)
        for seed in 1...20 {
            var bytes = jpeg.bytes
            let quarter = bytes.count / 4
            bytes.replaceSubrange(2 * quarter..<3 * quarter, with: noise(quarter, seed: UInt64(seed)))
            guard case .corrupt = try stream.failure(of: bytes) else {
                Issue.record("noise \(seed) was taken for a picture")
                continue
            }
        }
    }

    @Test func otherSizesAndKindsAreRefused() throws {
        let stream = try JPEGStream(PictureSize(64, 48)!)
        #expect(
            try stream.failure(of: TestJPEG(PictureSize(64, 32)!).bytes)
                == .mismatched("a JPEG of 64x32 in a stream of 64x48"))
        let rgb = TestJPEG(
            PictureSize(64, 48)!, .init(testDescription: "", horizontal: 1, vertical: 1), rgb: true)
        #expect(try stream.failure(of: rgb.bytes) == .mismatched("a JPEG that is not YCbCr"))
        #expect(try stream.failure(of: noise(4096, seed: 3)) != nil)
        #expect(try stream.failure(of: [0xFF, 0xD8, 0xFF, 0xD9]) != nil)
        #expect(try stream.failure(of: TestJPEG(PictureSize(64, 48)!).bytes) == nil)
    }

    @Test("crops a JPEG that is larger by less than an MCU", arguments: TestJPEG.Sampling.all)
    fileprivate func larger(sampling: TestJPEG.Sampling) throws {
        let (across, down) = (Int(sampling.horizontal) * 8, Int(sampling.vertical) * 8)
        for (width, height) in [(160, 96 - down + 1), (160 - across + 1, 96), (160 - 2, 96 - 2)] {
            // Whole chroma samples only: what is cut off does not contribute to those that remain.
            let size = PictureSize((width + 3) / 4 * 4, (height + 3) / 4 * 4)!
            let jpeg = TestJPEG(PictureSize(160, 96)!, sampling)
            let surface = TestSurface(.i420, size: size)
            try JPEGStream(size, layout: .i420).convert(jpeg.bytes, into: surface)
            #expect(jpeg.reference.cropped(to: size).difference(from: surface) == 0, "\(size)")
        }
        let stream = try JPEGStream(PictureSize(160 - across, 96)!)
        #expect(
            try stream.failure(of: TestJPEG(PictureSize(160, 96)!, sampling).bytes)
                == .mismatched("a JPEG of 160x96 in a stream of \(160 - across)x96"))
    }

    /// Scans cost time, and a picture's bytes have room for thousands.
    @Test func tooManyScansAreRefused() throws {
        let jpeg = TestJPEG(PictureSize(64, 48)!, progressive: true)
        let scans = jpeg.bytes.indices.dropLast().filter {
            jpeg.bytes[$0] == 0xFF && jpeg.bytes[$0 + 1] == 0xDA
        }
        let last = Array(jpeg.bytes[scans.last!..<jpeg.bytes.count - 2])
        let bytes = jpeg.bytes.dropLast(2) + Array(repeating: last, count: 100).joined()
        #expect(try JPEGStream(jpeg.size).failure(of: Array(bytes)) == .corrupt("more than 64 scans"))
    }
}
