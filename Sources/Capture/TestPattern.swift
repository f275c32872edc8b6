import CamPictures
import CamPlatform

/// The picture of the test source: color bars, a gray ramp, a moving square, and the frame's number twice, as
/// digits for people and as a row of black and white blocks for programs. A live source also draws the time
/// of capture, from which a receiver can compute the picture's age.
///
/// All shapes are rectangles with even edges: they look the same in every format, and survive chroma
/// subsampling exactly.
struct TestPattern {
    private let canvas: Canvas
    private let size: PictureSize

    /// The side of one block of the machine-readable numbers, in pixels: large enough to survive any coding.
    /// A row has sixteen blocks, most significant bit first, white is 1. The frame's number is one row in the
    /// picture's top left corner, the time is two rows in the bottom left corner, the upper half first.
    static let blockSide = 16
    static let blockCount = 16

    static func canDraw(_ format: PixelFormat) -> Bool {
        guard format.memoryPlaneCount == 1 else { return false }
        return switch format.arrangement {
        case .jpeg, .h264, .vendor: false
        default: true
        }
    }

    init(format: PictureFormat) {
        canvas = Canvas(format: format)
        size = format.size
    }

    /// Draws a frame into memory.
    /// - Parameters:
    ///   - time: when it is captured, drawn as the lower 32 bits of its microseconds; nil for a picture that
    ///     is the same at any time.
    ///   - previous: the frame of this pattern that the memory still holds; nil for none.
    func draw(
        frame: UInt32, time: Instant?, over previous: UInt32?, into memory: UnsafeMutableRawBufferPointer
    ) {
        let everything = Rectangle(x: 0, y: 0, width: size.width, height: size.height)
        if let previous {
            drawBackground(within: square(in: previous), into: memory)
        } else {
            drawBackground(within: everything, into: memory)
        }
        canvas.fill(square(in: frame), with: .white, within: everything, in: memory)
        if let time { drawTime(UInt32(truncatingIfNeeded: time.nanoseconds / 1000), into: memory) }
        drawDigits(of: frame, into: memory)
        drawBlocks(of: UInt16(truncatingIfNeeded: frame), y: 0, into: memory)
    }

    private func drawBackground(within clip: Rectangle, into memory: UnsafeMutableRawBufferPointer) {
        let barsHeight = even(size.height * 3 / 4)
        let bars = TestColor.bars
        for (index, color) in bars.enumerated() {
            let left = even(size.width * index / bars.count)
            let right = index == bars.count - 1 ? size.width : even(size.width * (index + 1) / bars.count)
            canvas.fill(
                Rectangle(x: left, y: 0, width: right - left, height: barsHeight), with: color, within: clip,
                in: memory)
        }
        let steps = 32
        for step in 0..<steps {
            let left = even(size.width * step / steps)
            let right = step == steps - 1 ? size.width : even(size.width * (step + 1) / steps)
            canvas.fill(
                Rectangle(x: left, y: barsHeight, width: right - left, height: size.height - barsHeight),
                with: .grey(UInt8(255 * step / (steps - 1))), within: clip, in: memory)
        }
    }

    /// A square that moves across the lower half, once in 128 frames.
    private func square(in frame: UInt32) -> Rectangle {
        let side = even(max(2, min(size.width, size.height) / 8))
        let way = max(0, size.width - side)
        let phase = Int(frame % 128)
        let distance = way * (phase < 64 ? phase : 128 - phase) / 64
        return Rectangle(x: even(distance), y: even(size.height / 2), width: side, height: side)
    }

    private func drawDigits(of frame: UInt32, into memory: UnsafeMutableRawBufferPointer) {
        let everything = Rectangle(x: 0, y: 0, width: size.width, height: size.height)
        let dot = even(max(2, size.height / 60))
        let top = Self.blockSide + 2 * dot
        let count = 6
        var divisor: UInt32 = 100_000
        for position in 0..<count {
            let digit = Int(frame / divisor % 10)
            divisor = max(1, divisor / 10)
            let left = 2 * dot + position * 6 * dot
            for (row, bits) in DigitFont.rows(of: digit) {
                for column in 0..<5 {
                    let isSet = bits >> UInt8(4 - column) & 1 == 1
                    let cell = Rectangle(x: left + column * dot, y: top + row * dot, width: dot, height: dot)
                    canvas.fill(cell, with: isSet ? .white : .black, within: everything, in: memory)
                }
            }
        }
    }

    private func drawTime(_ time: UInt32, into memory: UnsafeMutableRawBufferPointer) {
        let top = even(size.height - 2 * Self.blockSide)
        drawBlocks(of: UInt16(time >> 16), y: top, into: memory)
        drawBlocks(of: UInt16(truncatingIfNeeded: time), y: top + Self.blockSide, into: memory)
    }

    private func drawBlocks(of number: UInt16, y: Int, into memory: UnsafeMutableRawBufferPointer) {
        let everything = Rectangle(x: 0, y: 0, width: size.width, height: size.height)
        for bit in 0..<Self.blockCount {
            let isSet = number >> UInt16(Self.blockCount - 1 - bit) & 1 == 1
            let block = Rectangle(
                x: bit * Self.blockSide, y: y, width: Self.blockSide, height: Self.blockSide)
            canvas.fill(block, with: isSet ? .white : .black, within: everything, in: memory)
        }
    }

    private func even(_ value: Int) -> Int { value & ~1 }
}

/// A part of a picture, in pixels.
struct Rectangle {
    var x: Int
    var y: Int
    var width: Int
    var height: Int

    func intersection(_ other: Rectangle) -> Rectangle? {
        let left = max(x, other.x)
        let top = max(y, other.y)
        let right = min(x + width, other.x + other.width)
        let bottom = min(y + height, other.y + other.height)
        guard left < right, top < bottom else { return nil }
        return Rectangle(x: left, y: top, width: right - left, height: bottom - top)
    }
}

/// Digits of five by seven dots.
private enum DigitFont {
    /// The seven rows of a digit, each with its number from the top; bit 4 is the leftmost dot.
    static func rows(of digit: Int) -> EnumeratedSequence<InlineRows> {
        InlineRows(digit: digit).enumerated()
    }

    struct InlineRows: Sequence, IteratorProtocol {
        private var bits: UInt64
        private var remaining = 7

        init(digit: Int) { bits = Self.glyph(digit) }

        mutating func next() -> UInt8? {
            guard remaining > 0 else { return nil }
            remaining -= 1
            return UInt8(truncatingIfNeeded: bits >> UInt64(5 * remaining)) & 0x1f
        }

        /// Seven rows of five bits, the top row in the highest bits.
        private static func glyph(_ digit: Int) -> UInt64 {
            switch digit {
            case 0: 0b01110_10001_10011_10101_11001_10001_01110
            case 1: 0b00100_01100_00100_00100_00100_00100_01110
            case 2: 0b01110_10001_00001_00010_00100_01000_11111
            case 3: 0b11111_00010_00100_00010_00001_10001_01110
            case 4: 0b00010_00110_01010_10010_11111_00010_00010
            case 5: 0b11111_10000_11110_00001_00001_10001_01110
            case 6: 0b00110_01000_10000_11110_10001_10001_01110
            case 7: 0b11111_00001_00010_00100_01000_01000_01000
            case 8: 0b01110_10001_10001_01110_10001_10001_01110
            default: 0b01110_10001_10001_01111_00001_00010_01100
            }
        }
    }
}

// MARK: Drawing

/// A color of the test pattern, in RGB.
struct TestColor {
    let red: UInt8
    let green: UInt8
    let blue: UInt8

    static let white = grey(255)
    static let black = grey(0)

    static func grey(_ level: UInt8) -> TestColor { TestColor(red: level, green: level, blue: level) }

    /// White, yellow, cyan, green, magenta, red, blue, black, at 75 %.
    static let bars = [0b111, 0b110, 0b011, 0b010, 0b101, 0b100, 0b001, 0b000].map { bits in
        TestColor(red: bits & 4 != 0 ? 191 : 0, green: bits & 2 != 0 ? 191 : 0, blue: bits & 1 != 0 ? 191 : 0)
    }

    /// Limited-range BT.601 (ITU-R BT.601-7, 2.5.3).
    var ycbcr: (y: UInt8, cb: UInt8, cr: UInt8) {
        let (red, green, blue) = (Double(red) / 255, Double(green) / 255, Double(blue) / 255)
        let luma = 0.299 * red + 0.587 * green + 0.114 * blue
        return (
            UInt8((16 + 219 * luma).rounded()), UInt8((128 + 224 * (blue - luma) / 1.772).rounded()),
            UInt8((128 + 224 * (red - luma) / 1.402).rounded())
        )
    }
}

/// Fills rectangles in a picture of any uncompressed format.
struct Canvas {
    private let format: PictureFormat

    init(format: PictureFormat) { self.format = format }

    /// Fills the part of `rectangle` that lies within `clip` and the picture. Its origin is even.
    func fill(
        _ rectangle: Rectangle, with color: TestColor, within clip: Rectangle,
        in memory: UnsafeMutableRawBufferPointer
    ) {
        let picture = Rectangle(x: 0, y: 0, width: format.size.width, height: format.size.height)
        guard let area = rectangle.intersection(clip)?.intersection(picture) else { return }
        let (y, cb, cr) = color.ycbcr
        switch format.pixelFormat.arrangement {
        case .semiPlanar(let horizontal, let vertical, let first):
            fillPlane(0, area, Sample(y), in: memory)
            let chroma = first == .cb ? Sample(cb, cr) : Sample(cr, cb)
            fillPlane(1, subsample(area, horizontal, vertical), chroma, in: memory)
        case .planar(let horizontal, let vertical, let first):
            fillPlane(0, area, Sample(y), in: memory)
            let chroma = subsample(area, horizontal, vertical)
            fillPlane(1, chroma, Sample(first == .cb ? cb : cr), in: memory)
            fillPlane(2, chroma, Sample(first == .cb ? cr : cb), in: memory)
        case .packed422(let order):
            let sample =
                switch order {
                case .yuyv: Sample(y, cb, y, cr)
                case .uyvy: Sample(cb, y, cr, y)
                case .yvyu: Sample(y, cr, y, cb)
                }
            fillPlane(0, subsample(area, 2, 1), sample, in: memory)
        case .rgb(let bytesPerPixel, let red, let green, let blue):
            var sample = Sample(255, 255, 255, 255)
            sample.count = bytesPerPixel
            sample.bytes[red] = color.red
            sample.bytes[green] = color.green
            sample.bytes[blue] = color.blue
            fillPlane(0, area, sample, in: memory)
        case .grey:
            fillPlane(0, area, Sample(y), in: memory)
        case .jpeg, .h264, .vendor:
            break
        }
    }

    /// The bytes of one element of a plane: a sample, a pair of chroma samples, two packed pixels, a pixel.
    private struct Sample {
        var bytes: InlineArray<4, UInt8>
        var count: Int

        init(_ byte: UInt8) { (bytes, count) = ([byte, 0, 0, 0], 1) }
        init(_ first: UInt8, _ second: UInt8) { (bytes, count) = ([first, second, 0, 0], 2) }
        init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
            (bytes, count) = ([first, second, third, fourth], 4)
        }
    }

    private func subsample(_ area: Rectangle, _ horizontal: Int, _ vertical: Int) -> Rectangle {
        let right = (area.x + area.width + horizontal - 1) / horizontal
        let bottom = (area.y + area.height + vertical - 1) / vertical
        let (left, top) = (area.x / horizontal, area.y / vertical)
        return Rectangle(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// Fills `area`, counted in elements of the plane.
    private func fillPlane(
        _ number: Int, _ area: Rectangle, _ sample: Sample, in memory: UnsafeMutableRawBufferPointer
    ) {
        let plane = format.planes[number]
        let length = area.width * sample.count
        let first = plane.offset + area.y * plane.stride + area.x * sample.count
        let firstRow = UnsafeMutableRawBufferPointer(rebasing: memory[first..<first + length])
        var index = 0
        while index < length {
            for byte in 0..<sample.count { firstRow[index + byte] = sample.bytes[byte] }
            index += sample.count
        }
        for row in 1..<max(1, area.height) {
            let start = first + row * plane.stride
            UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + length])
                .copyMemory(from: UnsafeRawBufferPointer(firstRow))
        }
    }
}
