import CTestJPEG
import CamPictures
import CamPlatform
import Glibc
import TestSupport
import Testing

@testable import CamConversion
@testable import Capture
@testable import Encoder

/// What a privacy mask hides is in no picture, thumbnail or file.
@Suite struct PrivacyMaskTests {
    /// Hidden parts whose sides are whole samples of every format.
    private static let parts = [CropRectangle("64x24+32+8")!, CropRectangle("8x12+152+40")!]
    private static let framings =
        Framing.orientations + [
            Framing(crop: "120x40+24+4"), Framing(crop: "120x40+24+4", .left), Framing(scale: "80x32"),
            Framing(crop: "140x60+20+4", .right, scale: "48x96"),
        ]

    private func converter(
        _ format: PictureFormat, _ mask: PrivacyMask?, _ framing: Framing = Framing(),
        layout: PictureSurface.Layout = .nv12, color: ColorEncoding? = nil
    ) throws -> PixelConverter {
        var treatment = PictureTreatment()
        (treatment.privacy, treatment.framing, treatment.leavesThumbnails) = (mask, framing, true)
        return try treatment.converters(of: format, layout: layout, color: color ?? format.color).next()
    }

    private func converted(_ converter: PixelConverter, _ planes: [[UInt8]]) throws -> TestSurface {
        let surface = TestSurface(converter.layout, size: converter.size)
        try converter.convert(planes, into: surface)
        return surface
    }

    /// Changes every byte of some parts of a picture.
    private func changed(
        _ planes: [[UInt8]], _ format: PictureFormat, in parts: [CropRectangle]
    ) throws -> [[UInt8]] {
        var buffer = try makeBuffer(format, planes)
        for part in parts {
            for (number, plane) in format.planes.enumerated() {
                let rows = part.size.height * plane.rows / format.size.height
                let first = part.y * plane.rows / format.size.height
                let columns =
                    format.bytes(
                        before: part.x, ofPlane: number)..<format.bytes(
                        before: part.x + part.size.width, ofPlane: number)
                let start = UnsafeMutableRawPointer(mutating: try #require(buffer.plane(number).baseAddress))
                for row in first..<first + rows {
                    for column in columns {
                        let byte = start + row * plane.stride + column
                        byte.storeBytes(of: ~byte.load(as: UInt8.self), as: UInt8.self)
                    }
                }
            }
        }
        return content(&buffer, planes.map(\.count))
    }

    private func content(_ buffer: inout PixelBuffer, _ counts: [Int]) -> [[UInt8]] {
        // Planes of one memory plane follow each other.
        counts.indices.map { index in
            let number = counts.count == 1 ? 0 : index
            return Array(
                UnsafeRawBufferPointer(start: buffer.plane(number).baseAddress, count: counts[index]))
        }
    }

    @Test("pictures that differ only where they are hidden become the same", arguments: PixelFormat.raw)
    func secrecy(pixelFormat: PixelFormat) throws {
        let format = pixelFormat.layout(160, 64)
        let planes = format.minimumLengths.enumerated().map { noise($1, seed: UInt64($0 + 1)) }
        let others = try changed(planes, format, in: Self.parts)
        #expect(planes != others)
        for framing in Self.framings {
            for color in [format.color, .full709] {
                let converter = try converter(
                    format, PrivacyMask(rectangles: Self.parts), framing, color: color)
                let first = ReferencePicture(copying: try converted(converter, planes)).planes
                let cells = try cells(converter)
                let second = ReferencePicture(copying: try converted(converter, others)).planes
                #expect(first == second, "\(framing)")
                #expect(try cells == self.cells(converter), "the thumbnail, \(framing)")
            }
        }
    }

    private func cells(_ converter: PixelConverter) throws -> [UInt16] {
        let thumbnail = try #require(converter.thumbnail)
        return Array(UnsafeBufferPointer(start: thumbnail.cells, count: thumbnail.layout.count))
    }

    @Test(
        "only what is hidden is black, up to a chroma sample around it", arguments: PixelFormat.raw,
        [PictureSize(160, 64)!, PictureSize(161, 63)!])
    func exactness(pixelFormat: PixelFormat, size: PictureSize) throws {
        let format = pixelFormat.layout(size.width, size.height)
        let planes = format.minimumLengths.enumerated().map { noise($1, seed: UInt64($0 + 1)) }
        // Odd sides and places, one at the corner.
        let parts = [
            CropRectangle("31x17+41+11")!,
            CropRectangle(PictureSize(3, 3)!, x: size.width - 3, y: size.height - 3)!,
        ]
        for layout in [PictureSurface.Layout.nv12, .i420] {
            let plain = try converted(try converter(format, nil, layout: layout), planes)
            let masked = try converted(
                try converter(format, PrivacyMask(rectangles: parts), layout: layout), planes)
            for component in 0..<3 {
                let scale = component == 0 ? 1 : 2
                let wanted: UInt8 = component == 0 ? 16 : 128
                for y in 0..<(size.height + scale - 1) / scale {
                    for x in 0..<(size.width + scale - 1) / scale {
                        let isHidden = parts.contains { part in
                            (part.x / 2...(part.x + part.size.width - 1) / 2).contains(x * scale / 2)
                                && (part.y / 2...(part.y + part.size.height - 1) / 2).contains(y * scale / 2)
                        }
                        let sample = masked.sample(component, x, y)
                        guard sample == (isHidden ? wanted : plain.sample(component, x, y)) else {
                            Issue.record("\(layout), component \(component): \(sample) at \(x), \(y)")
                            return
                        }
                    }
                }
            }
        }
    }

    @Test("a camera's JPEG is hidden before it is cropped, turned and scaled", arguments: framings)
    func jpeg(framing: Framing) throws {
        let size = try #require(PictureSize(160, 64))
        let format = try #require(
            PictureFormat(.mjpeg, size: size, frameRate: FrameRate(30)!, color: .full601))
        // JPEG's blocks of 16 pixels do not reach beyond these parts.
        let parts = [CropRectangle("64x32+32+16")!]
        func jpeg(_ level: UInt8) throws -> [UInt8] {
            let samples = (0..<size.area).map { index -> UInt8 in
                let (x, y) = (index % size.width, index / size.width)
                return (32..<96).contains(x) && (16..<48).contains(y) ? level : UInt8(x % 16 * 8)
            }
            let options = test_jpeg_options(
                width: 160, height: 64, components: 1, horizontal: 1, vertical: 1, restart_rows: 0,
                progressive: 0, rgb: 0)
            var count = 0
            let encoded = try #require(test_jpeg_encode(samples, options, &count))
            defer { free(encoded) }
            return Array(UnsafeBufferPointer(start: encoded, count: count))
        }
        let converter = try converter(format, PrivacyMask(rectangles: parts), framing)
        let dark = ReferencePicture(copying: try converted(converter, [try jpeg(10)])).planes
        let bright = ReferencePicture(copying: try converted(converter, [try jpeg(250)])).planes
        #expect(dark == bright)
    }

    @Test("fields are woven before they are hidden")
    func fields() throws {
        let size = try #require(PictureSize(160, 64))
        let format = try #require(
            PictureFormat(
                .yuyv, size: size, frameRate: FrameRate(25)!, color: .limited601, isInterlaced: true,
                firstField: .top))
        let converter = try converter(format, PrivacyMask(rectangles: [CropRectangle("160x32+0+0")!]))
        let picture = try converted(converter, [noise(size.area * 2, seed: 1)])
        for y in 0..<64 {
            let isBlack = (0..<160).allSatisfy { picture.sample(0, $0, y) == 16 }
            #expect(isBlack == (y < 32), "row \(y)")
        }
    }

    @Test("a mosaic has blocks of one color, however the picture is turned", arguments: Framing.orientations)
    func mosaic(framing: Framing) throws {
        let format = PixelFormat.yuyv.layout(640, 64)
        let part = try #require(CropRectangle("320x64+64+0"))
        let converter = try converter(format, PrivacyMask(rectangles: [part], fill: .mosaic), framing)
        let picture = try converted(converter, [noise(640 * 64 * 2, seed: 5)])
        var colors: Set<UInt8> = []
        for y in 0..<converter.size.height {
            for x in 0..<converter.size.width {
                let (fromX, fromY) = framing.source(of: (x, y), in: format.size)
                guard (64..<384).contains(fromX) else { continue }
                // The twentieth of the picture: 32 pixels.
                let (blockX, blockY) = framing.place(of: (fromX / 32 * 32, fromY / 32 * 32), in: format.size)
                let sample = picture.sample(0, x, y)
                colors.insert(sample)
                guard sample == picture.sample(0, blockX, blockY) else {
                    Issue.record("\(x), \(y) differs from its block")
                    return
                }
            }
        }
        #expect(colors.count > 2)
    }

    @Test("a drawing hides every sample that its dark parts touch, whatever its size")
    func drawing() throws {
        // A dark pixel in the second column of the first row: 53 to 106, 0 to 53 of the picture.
        let drawing = try #require(
            GrayPicture(size: PictureSize(3, 2)!, levels: [255, 127, 255, 255, 128, 255]))
        let mask = PrivacyMask(shape: PrivacyMask.Shape(drawing, name: "a.pgm"))
        let format = PixelFormat.grey.layout(160, 106)
        let picture = try converted(
            try converter(format, mask), [[UInt8](repeating: 200, count: 160 * 106)])
        #expect((0..<160).filter { picture.sample(0, $0, 0) == 16 } == Array(52..<108))
        #expect((0..<106).filter { picture.sample(0, 60, $0) == 16 } == Array(0..<54))
    }

    @Test("one that does not fit the pictures is refused, with the next step")
    func misfits() throws {
        let size = try #require(PictureSize(640, 480))
        func refusal(_ mask: PrivacyMask) -> String? {
            do throws(PictureRequestError) {
                try mask.refuse(for: size)
                return nil
            } catch { return error.description }
        }
        #expect(refusal(PrivacyMask(rectangles: [CropRectangle("640x480+0+0")!])) == nil)
        #expect(
            refusal(PrivacyMask(rectangles: [CropRectangle("640x480+0+1")!]))
                == "--privacy 640x480+0+1: the camera's picture has only 640x480, and would not hide all of it; "
                + "use a rectangle within the picture")
        for (width, height, fits) in [
            (640, 480, true), (320, 240, true), (4, 3, true), (1280, 960, true), (640, 479, false),
            (4, 2, false), (107, 80, true),
            (640, 470, false), (320, 180, false), (480, 640, false),
        ] {
            let drawing = try #require(
                GrayPicture(
                    size: PictureSize(width, height)!, levels: [UInt8](repeating: 0, count: width * height)))
            let mask = PrivacyMask(shape: PrivacyMask.Shape(drawing, name: "a.pgm"))
            #expect((refusal(mask) == nil) == fits, "\(width)x\(height)")
        }
        let light = try #require(GrayPicture(size: PictureSize(2, 1)!, levels: [128, 255]))
        #expect(PrivacyMask.Shape(light, name: "a.pgm") == nil)
    }

    @Test("no picture goes around it: not shared, not decoded by a GPU, not passed on")
    func bypasses() throws {
        var treatment = PictureTreatment()
        treatment.privacy = PrivacyMask(rectangles: [CropRectangle("64x24+32+8")!])
        #expect(!treatment.isPlain && treatment.options == "--privacy 64x24+32+8")
        let converters = try treatment.converters(
            of: PixelFormat.nv12.layout(160, 64), layout: .nv12, color: .limited601)
        #expect(converters.obstacleToSharing?.contains("--privacy") == true)
        #expect(converters.obstacleToJPEG?.contains("--privacy") == true)
    }

    @Test("stills hide it, too, and refuse pictures that it does not fit")
    func stills() throws {
        let format = PixelFormat.grey.layout(64, 64)
        let mask = PrivacyMask(rectangles: [CropRectangle("64x32+0+0")!])
        let converter = try StillConverter(format, hiding: mask)
        try converter.convert(try makeBuffer(format, [[UInt8](repeating: 200, count: 64 * 64)]))
        let rows = converter.withRGB { rgb in [rgb[0], rgb[3 * 64 * 63]] }
        #expect(try #require(rows)[0] == 0 && rows?[1] != 0)
        let error = #expect(throws: ConversionError.self) {
            _ = try StillConverter(PixelFormat.grey.layout(64, 16), hiding: mask)
        }
        #expect(error?.concernsOneFrame == false)
    }
}

extension Framing {
    /// Where a sample of the framed picture comes from; without crop and scale.
    fileprivate func source(of place: (x: Int, y: Int), in size: PictureSize) -> (x: Int, y: Int) {
        let whole = orientation.size(of: size)
        var (x, y) = place
        if orientation.reversesColumns { x = whole.width - 1 - x }
        if orientation.reversesRows { y = whole.height - 1 - y }
        return orientation.isTransposed ? (y, x) : (x, y)
    }

    /// Where a sample of the source goes.
    fileprivate func place(of source: (x: Int, y: Int), in size: PictureSize) -> (x: Int, y: Int) {
        let whole = orientation.size(of: size)
        var (x, y) = orientation.isTransposed ? (source.y, source.x) : source
        if orientation.reversesColumns { x = whole.width - 1 - x }
        if orientation.reversesRows { y = whole.height - 1 - y }
        return (x, y)
    }
}
