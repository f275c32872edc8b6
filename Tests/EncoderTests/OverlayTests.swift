import Bitstream
import CGlyphs
import CTestAllocations
import Glibc
import CamPictures
import Testing
import CamPlatform

@testable import Capture
@testable import Encoder
@testable import CamConversion

/// Reads a text of the built-in font at its own size out of luma, by comparing each cell with every character.
struct TextReader {
    let width: Int
    let luma: [UInt8]

    /// - Parameters:
    ///   - x, y: the first cell's upper left pixel.
    ///   - isLit: whether a pixel belongs to a character.
    func text(x: Int, y: Int, count: Int, isLit: (UInt8) -> Bool = { $0 > 160 }) -> String {
        var text = ""
        for index in 0..<count {
            let left = x + index * Int(GLYPHS_FIXED_WIDTH)
            let rows = (0..<Int(GLYPHS_FIXED_HEIGHT)).map { row in
                (0..<Int(GLYPHS_FIXED_WIDTH)).reduce(UInt16(0)) { bits, column in
                    bits << 1 | (isLit(luma[(y + row) * width + left + column]) ? 1 : 0)
                }
            }
            let match = (UInt32(0x20)...0xff).first { character in
                glyphs_fixed(character).map {
                    rows.elementsEqual(UnsafeBufferPointer(start: $0, count: rows.count))
                }
                    == true
            }
            text.unicodeScalars.append(match.flatMap(Unicode.Scalar.init) ?? "\u{fffd}")
        }
        return text
    }
}

/// Text in pictures.
@Suite struct OverlayTests {
    private static let size = PictureSize(640, 480)!

    /// 25 November 2026, 23:59:58.0625 in UTC.
    private static let start = WallTime(nanoseconds: 1_795_651_198_062_500_000)

    private func overlay(
        _ text: String, _ configure: (inout Overlay) -> Void = { _ in }
    ) throws -> Overlay {
        var overlay = Overlay(try OverlayText(text))
        overlay.isUTC = true
        configure(&overlay)
        return overlay
    }

    private func design(
        _ overlay: Overlay, _ size: PictureSize = Self.size, range: ColorEncoding.Range = .limited
    ) throws -> OverlayDesign {
        try OverlayDesign(overlay, size: size, range: range) { Self.start + ($0 - .start) }
    }

    private func converter(
        _ format: PictureFormat, _ overlay: OverlayDesign?, _ framing: Framing = Framing(),
        layout: PictureSurface.Layout = .i420
    ) throws -> PixelConverter {
        try PixelConverter(
            source: format, layout: layout, color: format.color, framing: framing, hidden: nil,
            overlay: overlay,
            makesThumbnails: false)
    }

    private func surface(
        _ format: PictureFormat, _ memory: [[UInt8]], _ design: OverlayDesign?,
        _ framing: Framing = Framing(),
        after time: Duration = .zero, frame: UInt32 = 0
    ) throws -> TestSurface {
        let converter = try converter(format, design, framing)
        let surface = TestSurface(.i420, size: converter.size)
        let buffer = try picture(format, memory, sequence: frame, timestamp: .start + time)
        try converter.convert(buffer, into: surface.surface)
        return surface
    }

    private func reader(_ surface: TestSurface) -> TextReader {
        TextReader(
            width: surface.size.width,
            luma: (0..<surface.size.height).flatMap { y in
                (0..<surface.size.width).map { surface.sample(0, $0, y) }
            })
    }

    // MARK: The text

    @Test("the text is that of the time of capture, on any background", arguments: Overlay.Box.allCases)
    func backgrounds(box: Overlay.Box) throws {
        let format = try Film(.yuv420, 640, 480).format
        let design = try design(
            overlay("%F %T.%f {camera} #{frame} %% Äÿ{") { ($0.box, $0.camera) = (box, "Café 2") })
        let expected = "2026-11-26 00:00:01.187 Café 2 #4294967295 % Äÿ{"
        for fill in [0, 16, 90, 160, 235, 255] as [UInt8] {
            let memory = format.minimumLengths.map { Array(repeating: fill, count: $0) }
            let surface = try surface(format, memory, design, after: .milliseconds(3125), frame: .max)
            let (x, y) = (design.margin + design.padding.x, design.margin + design.padding.y)
            let text = reader(surface).text(x: x, y: y, count: expected.count) {
                box == .light ? $0 < 90 : $0 > 185
            }
            // White on white differs by its outline only; black and white boxes differ anywhere.
            if box != .none || fill < 185 { #expect(text == expected, "\(fill)") }
        }
    }

    @Test("an outline separates white text from white")
    func outline() throws {
        let format = try Film(.yuv420, 640, 480).format
        let design = try design(overlay("l") { $0.box = .none })
        let surface = try surface(
            format, format.minimumLengths.map { Array(repeating: 235, count: $0) }, design)
        let row = design.margin + design.padding.y + 10
        let line = (0..<40).map { surface.sample(0, $0, row) }
        let start = try #require(line.firstIndex { $0 < 30 })
        let stroke = try #require(line[start...].firstIndex { $0 > 230 })
        #expect(stroke == start + 1)
        #expect(try #require(line[stroke...].firstIndex { $0 < 30 }) == stroke + 2)
    }

    @Test("a text that changes is drawn as a new one would be, also where its width changes")
    func changes() throws {
        let format = try Film(.yuyv, 320, 96).format
        let memory = [noise(320 * 96 * 2, seed: 5)]
        for box in Overlay.Box.allCases {
            let text = try overlay("{frame} %T.%f") {
                ($0.box, $0.height, $0.place) = (box, 13, .bottomRight)
            }
            let design = try design(text, format.size)
            let converter = try converter(format, design)
            for (number, frame) in ([8, 9, 10, 11, 99, 100, 7, 7] as [UInt32]).enumerated() {
                let time = Duration.milliseconds(number * 481)
                let kept = TestSurface(.i420, size: format.size)
                let buffer = try picture(format, memory, sequence: frame, timestamp: .start + time)
                try converter.convert(buffer, into: kept.surface)
                let fresh = try surface(format, memory, design, after: time, frame: frame)
                #expect(ReferencePicture(copying: fresh).difference(from: kept) == 0, "\(frame)")
            }
        }
    }

    @Test("a text touches nothing beyond its box", arguments: Overlay.Place.allCases)
    func places(place: Overlay.Place) throws {
        for size in ["640x480", "161x35", "63x47", "2x2", "1x1", "3x2"] {
            let size = try #require(PictureSize(size))
            let raw = try RawPicture(.yCbCr[0], size.width, size.height, padding: 0, color: .limited601)
            for framing in Framing.orientations {
                let plain = try surface(raw.format, raw.memory, nil, framing)
                let design = try design(overlay("%T") { ($0.place, $0.height) = (place, 8) }, plain.size)
                let surface = try surface(raw.format, raw.memory, design, framing)
                let columns = min(
                    8 * design.atlas.width(design.atlas.glyph(0x30)) + 2 * design.padding.x,
                    design.mostColumns)
                let origin = design.origin(columns: columns)
                var changed = 0
                for y in 0..<plain.size.height {
                    for x in 0..<plain.size.width where plain.sample(0, x, y) != surface.sample(0, x, y) {
                        changed += 1
                        #expect(
                            (origin.x..<origin.x + columns).contains(x)
                                && (origin.y..<origin.y + design.rows).contains(y))
                    }
                }
                #expect(changed > 0 || size.area < 10)
            }
        }
    }

    @Test("corners are corners, and the text fits them")
    func corners() throws {
        let design = try design(overlay("%T"))
        for place in Overlay.Place.allCases {
            let placed = try self.design(overlay("%T") { $0.place = place })
            let (x, y) = placed.origin(columns: 100)
            let (left, right) = (x == design.margin, x == 640 - 100 - design.margin)
            let (above, below) = (y == design.margin, y == 480 - design.rows - design.margin)
            switch place {
            case .topLeft: #expect(left && above)
            case .top: #expect(x == 270 && above)
            case .topRight: #expect(right && above)
            case .bottomLeft: #expect(left && below)
            case .bottom: #expect(x == 270 && below)
            case .bottomRight: #expect(right && below)
            }
        }
    }

    @Test("a long text without a size becomes as small as it must be; one with a size is cut off and said")
    func fits() throws {
        let small = try #require(PictureSize(160, 120))
        #expect(try design(overlay("%F %T")).atlas.height == 20)
        #expect(try design(overlay("%F %T"), PictureSize(1920, 1080)!).atlas.height == 40)
        let fitting = try design(overlay("%F %T"), small)
        #expect(fitting.atlas.height < 20 && fitting.note == nil)
        #expect(try design(overlay("%F %T") { $0.height = 20 }, small).note != nil)
    }

    @Test("full range is used to its ends")
    func range() throws {
        let format = try Film(.yuv420, 640, 480, color: .full601).format
        let memory = format.minimumLengths.map { Array(repeating: UInt8(128), count: $0) }
        let surface = try surface(format, memory, try design(overlay("\u{dc}"), range: .full))
        let luma = reader(surface).luma
        #expect(luma.max() == 255)
    }

    @Test("the time is read back from what libx264 has coded, in every orientation")
    func decoded() throws {
        let film = try Film(.nv12, 320, 240, framesPerScene: 3)
        for framing in [Framing(), Framing(.right), Framing(.upsideDown, .vertical)] {
            var treatment = PictureTreatment()
            treatment.framing = framing
            treatment.overlay = try overlay("%T.%f {frame}")
            var configuration = CompressionProperties()
            configuration.rateControl.quantizer = 20
            let encoder = try SoftwareBackend.open(
                configuration, source: film.format,
                inputs: EncoderInputs(codecs: [.h264], treatment: treatment), regulator: RateRegulator())
            let before = SystemTime().wallTime(at: .start) - .milliseconds(2)
            let pictures = try TestDecoder.decode(film.encode(10, with: encoder))
            let after = SystemTime().wallTime(at: .start) + .milliseconds(2)
            try #require(pictures.count == 10)
            let design = try OverlayDesign(
                try #require(treatment.overlay), size: encoder.size, range: .limited)
            for (number, picture) in pictures.enumerated() {
                let text = TextReader(width: picture.width, luma: picture.planes[0]).text(
                    x: design.margin + design.padding.x, y: design.margin + design.padding.y, count: 14)
                let expected = [before, after].map { clock in
                    let time = clock + .milliseconds(40) * number
                    let day = Int(((time.seconds % 86400) + 86400) % 86400)
                    let nanoseconds = time.nanoseconds - Int64(time.seconds) * 1_000_000_000
                    return [day / 3600, day / 60 % 60, day % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
                        .joined(separator: ":") + "." + "\(nanoseconds / 1_000_000 + 1000)".dropFirst()
                        + " \(number)"
                }
                // The clocks that the encoder reads lie between those, but for what both may be adjusted by.
                #expect(expected[0] <= text && text <= expected[1], "\(framing), picture \(number)")
            }
        }
    }

    @Test(
        "nothing is allocated for a text, whether it changes or not",
        .enabled(if: allocations_can_be_counted(), "counts in optimized code without a sanitizer"))
    func allocations() throws {
        let format = try Film(.yuyv, 640, 480).format
        let memory = [noise(640 * 480 * 2, seed: 5)]
        let text = try overlay("%F %T.%f {frame} {camera}") { ($0.camera, $0.isUTC) = ("C", false) }
        let converter = try converter(format, OverlayDesign(text, size: format.size, range: .limited))
        let surface = TestSurface(.i420, size: format.size)
        // The C library reads the time zone once.
        try converter.convert(picture(format, memory), into: surface.surface)
        for number in [1, 2, 9, 10, 100] {
            let buffer = try picture(
                format, memory, sequence: UInt32(number), timestamp: .start + .milliseconds(400 * number))
            allocations_begin()
            try converter.convert(buffer, into: surface.surface)
            #expect(allocations_end() == 0, "\(number)")
        }
    }

    // MARK: What may be written

    @Test("a text is checked before anything is opened")
    func texts() throws {
        func problem(_ text: String) -> String? {
            do throws(OverlayText.Problem) {
                _ = try OverlayText(text)
                return nil
            } catch { return "\(error)" }
        }
        for text in ["%F %T", "%", "%%f", "{", "{}", "a{b", "{camera}{frame}", "100 %", "%é", "Ω"] {
            #expect(problem(text) == nil, "\(text)")
        }
        #expect(problem("") == "expected a text, as in '%F %T'")
        #expect(problem("{kamera}") == "expected {camera} or {frame}, not {kamera}")
        #expect(problem("a\nb") == "expected characters that can be drawn, not U+A")
        #expect(problem(String(repeating: "a", count: 200)) == nil)
        #expect(problem(String(repeating: "a", count: 201)) == "expected at most 200 characters")
        #expect(try OverlayText("a Ω").missingFromBuiltInFont == "Ω")
        #expect(try OverlayText("%F ÄÖ").missingFromBuiltInFont == nil)
        #expect(try OverlayText("%%f%f").parts == [.date("%%f"), .milliseconds])
    }

    // MARK: Fonts

    @Test(
        "the built-in font has all of printable ASCII and Latin-1, each character different from the others")
    func builtIn() {
        let printable = Array(UInt32(0x20)...0x7e) + Array(0xa0...0xff)
        let bitmaps = printable.compactMap { character in
            glyphs_fixed(character).map {
                Array(UnsafeBufferPointer(start: $0, count: Int(GLYPHS_FIXED_HEIGHT)))
            }
        }
        #expect(bitmaps.count == printable.count)
        // Both spaces are empty, and a hyphen looks the same soft or hard.
        #expect(Set(bitmaps).count >= printable.count - 2)
        for character in [0, 0x1f, 0x7f, 0x9f, 0x100, .max] as [UInt32] {
            #expect(glyphs_fixed(character) == nil)
        }
    }

    @Test(
        "a scaled glyph covers as much of its cell as the original", arguments: [6, 7, 13, 20, 33, 40, 200])
    func scaled(height: Int) throws {
        let atlas = GlyphAtlas.builtIn(height: height, [])
        for character in "09Wg#".utf8 {
            let glyph = atlas.glyph(character)
            let width = atlas.width(glyph)
            let sum = (0..<width * height).reduce(0.0) { $0 + Double(atlas.coverage(glyph)[$1]) / 255 }
            let bits = (0..<20).reduce(0) { $0 + glyphs_fixed(UInt32(character))![$1].nonzeroBitCount }
            #expect(abs(sum / Double(width * height) - Double(bits) / 200) < 0.01)
        }
    }

    @Test("a font file is used through FreeType, and one that is none is refused")
    func files() throws {
        #expect(throws: PictureRequestError.self) { try GlyphAtlas.file("/dev/null", height: 20, []) }
        #expect(throws: PictureRequestError.self) { try GlyphAtlas.file("/nowhere.ttf", height: 20, []) }
    }

    private static let font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

    @Test(
        "a font file's lines are as high as wanted",
        .enabled(if: access(font, R_OK) == 0, "needs fonts-dejavu"))
    func fontFile() throws {
        for height in [6, 20, 41, 300] {
            let atlas = try GlyphAtlas.file(Self.font, height: height, "Ω".unicodeScalars)
            #expect(atlas.glyph("Ω" as Unicode.Scalar) != atlas.glyph(0x3f))
            #expect(atlas.width(atlas.glyph(0x57)) > atlas.width(atlas.glyph(0x69)))
            // A descender ends within the line, a capital begins within it.
            let glyph = atlas.glyph(0x67)
            let (width, coverage) = (atlas.width(glyph), atlas.coverage(glyph))
            let lit = (0..<height).filter { row in (0..<width).contains { coverage[row * width + $0] > 0 } }
            #expect(try #require(lit.last) > height / 2)
            #expect(try #require(lit.first) > 0)
        }
    }
}
