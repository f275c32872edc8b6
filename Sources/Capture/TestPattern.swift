import CamPictures
import CamPlatform

/// The picture of the test source: colour bars, a grey ramp, a moving square, and the frame's number twice, as
/// digits for people and as a row of black and white blocks for programs. A live source also draws the time of
/// capture, so that a receiver can tell how old the picture is.
///
/// Everything is a rectangle with even edges, so that it looks the same in every format and survives
/// chroma subsampling exactly.
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
    ///   - time: when it is captured, drawn as the lower 32 bits of its microseconds; nil for a picture that is the
    ///     same at any time.
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
