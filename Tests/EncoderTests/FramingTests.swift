import CTestAllocations
import CamPictures
import Testing
import CamPlatform

@testable import Capture
@testable import Encoder
@testable import CamConversion

extension ReferencePicture {
    /// A part of it, turned clockwise and mirrored, each plane by itself.
    func framed(_ framing: Framing) -> ReferencePicture {
        var result = self
        if let crop = framing.crop { result = result.part(crop) }
        for _ in 0..<(framing.rotation?.rawValue ?? 0) / 90 { result = result.turned() }
        switch framing.flip {
        case nil: return result
        case .horizontal: return result.placed(as: result.size) { x, y, width, _ in (width - 1 - x, y) }
        case .vertical: return result.placed(as: result.size) { x, y, _, height in (x, height - 1 - y) }
        }
    }

    private func turned() -> ReferencePicture {
        placed(as: PictureSize(size.height, size.width)!) { x, y, width, _ in (y, width - 1 - x) }
    }

    private func part(_ crop: CropRectangle) -> ReferencePicture {
        ReferencePicture(
            size: crop.size,
            planes: (0..<3).map { plane in
                let scale = plane == 0 ? 1 : 2
                return (0..<(crop.size.height + scale - 1) / scale).flatMap { y in
                    (0..<(crop.size.width + scale - 1) / scale).map { x in
                        sample(plane, crop.x / scale + x, crop.y / scale + y)
                    }
                }
            })
    }

    /// A picture whose samples come from a place of this one, given their own and the result's width and height.
    private func placed(
        as target: PictureSize, _ source: (_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> (Int, Int)
    ) -> ReferencePicture {
        ReferencePicture(
            size: target,
            planes: (0..<3).map { plane in
                let width = plane == 0 ? target.width : (target.width + 1) / 2
                let height = plane == 0 ? target.height : (target.height + 1) / 2
                return (0..<height).flatMap { y in
                    (0..<width).map { x in
                        let (fromX, fromY) = source(x, y, width, height)
                        return sample(plane, fromX, fromY)
                    }
                }
            })
    }

    private func sample(_ plane: Int, _ x: Int, _ y: Int) -> Double {
        planes[plane][y * (plane == 0 ? size.width : chromaSize.width) + x]
    }
}

extension Framing {
    init(
        crop: String? = nil, _ rotation: Rotation? = nil, _ flip: Flip? = nil, scale: String? = nil
    ) {
        self.init()
        self.crop = crop.flatMap { CropRectangle($0) }
        (self.rotation, self.flip) = (rotation, flip)
        self.scale = scale.flatMap { PictureSize($0) }
    }

    /// All eight orientations, each with a name.
    static let orientations = [nil, Rotation.right, .upsideDown, .left].flatMap { rotation in
        [nil, Flip.horizontal].map { Framing(rotation, $0) }
    }
}

private let sizes = ["64x48", "54x50", "63x47", "161x35", "2x2", "1x1", "3x2", "2x3"].map { PictureSize($0)! }

/// What becomes of a picture is exactly what becomes of the plainly converted one.
@Suite struct FramingTests {
    private func padded(_ size: PictureSize) -> PictureSize {
        PictureSize((size.width + 15) / 16 * 16, (size.height + 15) / 16 * 16)!
    }

    /// Converts with and without the framing, and compares, margins included.
    private func expectExact(
        _ format: PictureFormat, _ memory: [[UInt8]], _ framing: Framing,
        color: ColorEncoding = .limited601, _ comment: Comment
    ) throws {
        let plain = TestSurface(.i420, size: format.size)
        try PixelConverter(source: format, layout: .i420, color: color).convert(memory, into: plain)
        let expected = ReferencePicture(copying: plain).framed(framing)
        for layout in [PictureSurface.Layout.nv12, .i420] {
            let converter = try PixelConverter(
                source: format, layout: layout, color: color, framing: framing)
            try #require(converter.size == expected.size)
            for surface in [
                TestSurface(layout, size: expected.size),
                TestSurface(layout, size: expected.size, padded: padded(expected.size), gap: 16),
            ] {
                try converter.convert(memory, into: surface)
                #expect(expected.difference(from: surface) == 0, "\(comment), \(layout), \(framing)")
                #expect(surface.isGapUntouched)
            }
        }
    }

    @Test("turns and mirrors every format, of odd sizes too", arguments: RawLayout.yCbCr + RawLayout.rgb)
    func orientation(layout: RawLayout) throws {
        for size in sizes {
            let picture = try RawPicture(layout, size.width, size.height, padding: 32, color: .limited601)
            for framing in Framing.orientations {
                try expectExact(picture.format, picture.memory, framing, "\(size)")
            }
        }
    }

    @Test("cuts a part out of every format, and turns it", arguments: RawLayout.yCbCr + RawLayout.rgb)
    func crop(layout: RawLayout) throws {
        let picture = try RawPicture(layout, 63, 47, padding: 0, color: .limited601)
        for crop in ["2x2+0+0", "2x2+60+44", "32x18+2+4", "62x46+0+0", "20x34+42+12"] {
            for framing in [
                Framing(crop: crop), Framing(crop: crop, .right), Framing(crop: crop, .upsideDown),
            ] {
                try expectExact(picture.format, picture.memory, framing, "\(crop)")
            }
        }
    }

    @Test("changes colours on the way")
    func colors() throws {
        for size in sizes {
            let picture = try RawPicture(.yCbCr[0], size.width, size.height, padding: 0, color: .limited601)
            for framing in Framing.orientations {
                try expectExact(picture.format, picture.memory, framing, color: .full709, "\(size)")
            }
        }
    }

    @Test("weaves fields before it turns and cuts", arguments: [PictureFormat.Field.top, .bottom])
    func fields(first: PictureFormat.Field) throws {
        for layout in [RawLayout.yCbCr[0], .yCbCr[3], .yCbCr[13], .rgb[0]] {
            let woven = try RawPicture(layout, 54, 52, padding: 32, color: .limited601)
            let (format, memory) = try woven.separated(first)
            for framing in Framing.orientations + [Framing(crop: "20x18+6+10", .left)] {
                try expectExact(format, memory, framing, "\(layout)")
            }
        }
    }

    @Test("turns and cuts JPEG, which is decoded from the top down")
    func jpeg() throws {
        for size in ["64x48", "200x102", "322x82"] {
            let source = try TestSource(
                CaptureRequest(size: PictureSize(size), pixelFormat: .mjpeg), isPaced: false)
            guard case .buffer(let buffer) = try source.nextBuffer() else {
                Issue.record("no picture")
                return
            }
            let crops = [nil, "2x2+0+0", "62x44+2+4", "18x20+40+26"]
            for framing in Framing.orientations + crops.map({ Framing(crop: $0, .upsideDown) }) {
                try expectExact(source.format, [Array(buffer.payload)], framing, "\(size)")
            }
        }
    }

    // MARK: Scaling

    @Test(
        "a scaled picture is the weighted mean that it should be, and turned as it should",
        arguments: ["96x48", "48x24", "32x16", "24x12", "2x2", "192x96", "50x90", "96x10", "48x12"])
    func scale(to target: String) throws {
        let size = PictureSize(96, 48)!
        let picture = try RawPicture(.yCbCr[13], size.width, size.height, padding: 0, color: .limited601)
        let target = try #require(PictureSize(target))
        let plain = TestSurface(.i420, size: size)
        try picture.converted(to: plain, color: .limited601)
        for framing in [Framing(), Framing(.right), Framing(.upsideDown), Framing(nil, .vertical)] {
            var framing = framing
            let flat = framing.orientation.size(of: target)
            let expected = ReferencePicture(copying: plain).scaled(to: flat).framed(framing)
            framing.scale = target
            let surface = TestSurface(.nv12, size: target)
            try PixelConverter(
                source: picture.format, layout: .nv12, color: .limited601, framing: framing
            ).convert(picture.memory, into: surface)
            #expect(expected.difference(from: surface) <= 1, "\(framing)")
        }
    }

    @Test(
        "a picture of one colour has that colour at any size",
        arguments: [0, 1, 16, 127, 254, 255] as [UInt8])
    func flat(value: UInt8) throws {
        let format = try Film(.yuv420, 62, 46).format
        for target in ["2x2", "16x300", "62x2", "100x100", "1000x2"] {
            let surface = TestSurface(.i420, size: try #require(PictureSize(target)))
            try PixelConverter(
                source: format, layout: .i420, color: format.color, framing: Framing(scale: target)
            ).convert(format.minimumLengths.map { Array(repeating: value, count: $0) }, into: surface)
            let expected = ReferencePicture(size: surface.size, rounded: true) { _, _ in
                (Double(value), Double(value), Double(value))
            }
            #expect(expected.difference(from: surface) == 0, "\(target)")
        }
    }

    @Test(
        "nothing is allocated for a picture",
        .enabled(if: allocations_can_be_counted(), "counts in optimized code without a sanitizer"))
    func allocations() throws {
        let film = try Film(.yuyv, 320, 240)
        let framings =
            Framing.orientations + [
                Framing(crop: "100x50+20+10", .right), Framing(.left, scale: "200x100"),
            ]
        let part = try #require(CropRectangle("101x60+21+11"))
        let masks = [nil] + PrivacyMask.Fill.allCases.map { PrivacyMask(rectangles: [part], fill: $0) }
        for (framing, mask) in framings.flatMap({ framing in masks.map { (framing, $0) } }) {
            var treatment = PictureTreatment()
            (treatment.framing, treatment.privacy) = (framing, mask)
            let converter = try treatment.converters(
                of: film.format, layout: .nv12, color: film.format.color
            ).next()
            let memory = try PictureMemory(converter.size, paddedTo: converter.size, layout: .nv12)
            for number in 0..<3 {
                let picture = try film.frame(number)
                allocations_begin()
                try converter.convert(picture, into: memory.surface)
                #expect(allocations_end() == 0, "\(framing), picture \(number)")
            }
        }
    }

    // MARK: Sizes

    private func refusal(_ framing: Framing, _ source: String? = nil) -> String? {
        do throws(PictureRequestError) {
            try framing.refuse(within: source.flatMap { PictureSize($0) })
            return nil
        } catch { return error.description }
    }

    @Test("sizes that 4:2:0 does not have are refused with the nearest")
    func nearest() {
        #expect(refusal(Framing(scale: "640x360"), "1920x1080") == nil)
        #expect(
            refusal(Framing(scale: "641x1"))
                == "--scale 641x1: H.264 and H.265 have even sizes only; use 640x2")
        #expect(refusal(Framing(crop: "640x480+2+4"), "642x484") == nil)
        #expect(
            refusal(Framing(crop: "641x480+3+5"))
                == "--crop 641x480+3+5: chroma has half as many columns and rows; use 640x480+2+4")
        #expect(
            refusal(Framing(crop: "640x480+4+4"), "642x484")
                == "--crop 640x480+4+4: the picture has only 642x484; use 640x480+2+4")
        #expect(
            refusal(Framing(crop: "640x480+0+0"), "321x1081")
                == "--crop 640x480+0+0: the picture has only 321x1081; use 320x480+0+0")
        #expect(
            refusal(Framing(crop: "2x2+0+0"), "1x1")
                == "--crop 2x2+0+0: the picture has only 1x1; leave it out")
    }

    @Test("a part is a size and a place")
    func rectangles() {
        #expect(CropRectangle("640x480+320+120").map { "\($0)" } == "640x480+320+120")
        for text in [
            "", "640x480", "640x480+1", "640x480+1+2+3", "0x480+0+0", "640x480+-2+0", "640x480+0+16384",
            "640x480+99999999999999999999+0", "640x480++", "x+0+0",
        ] {
            #expect(CropRectangle(text) == nil, "\(text)")
        }
    }

    @Test("the shape of the pixels leaves what they show undistorted")
    func aspect() throws {
        func aspect(_ framing: Framing, _ size: String, of pixels: PixelAspect? = nil) throws -> String? {
            let format = try #require(
                PictureFormat(
                    .yuyv, size: PictureSize(size)!, frameRate: FrameRate(30)!, color: .limited601,
                    pixelAspect: pixels))
            let picture = try framing.picture(of: format)
            return picture.isDistorted ? "distorted" : picture.pixelAspect.map { "\($0)" }
        }
        let pal = PixelAspect(12, 11)
        #expect(try aspect(Framing(), "720x576", of: pal) == "12:11")
        #expect(try aspect(Framing(.right), "720x576", of: pal) == "11:12")
        #expect(try aspect(Framing(.upsideDown), "720x576", of: pal) == "12:11")
        #expect(try aspect(Framing(crop: "100x100+0+0"), "720x576", of: pal) == "12:11")
        #expect(try aspect(Framing(scale: "1280x720"), "1920x1080") == nil)
        #expect(try aspect(Framing(scale: "640x480"), "1280x720") == "4:3")
        #expect(try aspect(Framing(.right, scale: "480x640"), "1280x720") == "3:4")
        // 69871:52521, which a stream cannot say, and half of it.
        #expect(try aspect(Framing(crop: "1306x738+0+0", scale: "854x642"), "1920x1080") == "34936:26261")
        // Shown with square pixels, the picture would be less than a pixel wide or high.
        #expect(try aspect(Framing(scale: "2x2"), "1280x320") == "distorted")
        #expect(try aspect(Framing(scale: "4x2"), "1280x320") == "2:1")
        #expect(try aspect(Framing(scale: "320x16"), "640x480") == "distorted")
        // Only rounded to even.
        #expect(try aspect(Framing(scale: "2x2"), "320x1280") == nil)
        #expect(try aspect(Framing(scale: "640x360"), "1366x768") == nil)
    }

    @Test("chroma's place turns with the picture")
    func siting() {
        func sitings(_ source: ChromaSiting) -> [ChromaSiting] {
            [nil, Rotation.right, .upsideDown, .left].map { Orientation($0).siting(of: source) }
        }
        #expect(sitings(.left) == [.left, .top, .center, .bottom])
        #expect(sitings(.center) == [.center, .center, .center, .center])
        #expect(sitings(.topLeft) == [.topLeft, .top, .bottom, .bottomLeft])
        #expect(Orientation(nil, .vertical).siting(of: .topLeft) == .bottomLeft)
    }

    @Test("an encoder codes the turned size, and says so", arguments: [PixelFormat.nv12, .yuyv])
    func encoded(format: PixelFormat) throws {
        let film = try Film(format, 128, 96)
        var treatment = PictureTreatment()
        treatment.framing = Framing(crop: "96x64+0+0", .right)
        let encoder = try SoftwareBackend.open(
            CompressionProperties(), source: film.format,
            inputs: EncoderInputs(codecs: [.h264], treatment: treatment), regulator: RateRegulator())
        let units = try film.encode(3, with: encoder)
        let picture = try #require(try TestDecoder.decode(units).first)
        #expect((picture.width, picture.height) == (64, 96))
        #expect(encoder.size == PictureSize(64, 96))
        let isPassedOver = encoder.notes.contains {
            "\($0)".contains("converted for --crop 96x64+0+0 --rotate 90")
        }
        #expect(isPassedOver == (format == .nv12))
    }
}

extension ReferencePicture {
    private func averaged(by ratio: Int, to target: PictureSize) -> ReferencePicture {
        ReferencePicture(
            size: target,
            planes: (0..<3).map { plane in
                let width = plane == 0 ? size.width : chromaSize.width
                let count = plane == 0 ? target.width : target.width / 2
                return (0..<(plane == 0 ? target.height : target.height / 2) * count).map { index in
                    let corner = index / count * ratio * width + index % count * ratio
                    let square = (0..<ratio * ratio).map {
                        planes[plane][corner + $0 / ratio * width + $0 % ratio]
                    }
                    return (square.reduce(0, +) / Double(ratio * ratio)).rounded()
                }
            })
    }

    /// By squares for a half, a third and a quarter; otherwise by triangles as wide as two samples of the coarser
    /// picture, with chroma at the left.
    fileprivate func scaled(to target: PictureSize) -> ReferencePicture {
        let ratio = (2...4).first { size.width == $0 * target.width && size.height == $0 * target.height }
        if let ratio { return averaged(by: ratio, to: target) }
        func line(_ samples: [Double], _ count: Int, _ ratio: Double, _ shift: Double) -> [Double] {
            let radius = max(1, ratio)
            return (0..<count).map { index in
                let center = Double(index) * ratio + shift
                var (sum, weights) = (0.0, 0.0)
                for place in Int((center - radius).rounded(.down))...Int((center + radius).rounded(.up)) {
                    let weight = max(0, radius - abs(Double(place) - center))
                    sum += weight * samples[min(max(place, 0), samples.count - 1)]
                    weights += weight
                }
                return sum / weights
            }
        }
        let (across, down) = (
            Double(size.width) / Double(target.width), Double(size.height) / Double(target.height)
        )
        return ReferencePicture(
            size: target,
            planes: (0..<3).map { plane in
                let width = plane == 0 ? size.width : chromaSize.width
                let (newWidth, newHeight) =
                    plane == 0
                    ? (target.width, target.height) : ((target.width + 1) / 2, (target.height + 1) / 2)
                let left = plane == 0 ? (across - 1) / 2 : (across - 1) / 4
                let rows = (0..<planes[plane].count / width).map { row in
                    line(Array(planes[plane][row * width..<(row + 1) * width]), newWidth, across, left)
                }
                let columns = (0..<newWidth).map { x in
                    line(rows.map { $0[x] }, newHeight, down, (down - 1) / 2)
                }
                return (0..<newHeight).flatMap { y in columns.map { $0[y].rounded() } }
            })
    }
}
