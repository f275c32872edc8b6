import CamPictures

/// A colour of the test pattern, in RGB.
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
