/// A colour of the test pattern: limited-range Y′CbCr, and the RGB it stands for.
struct TestColor {
    let y: UInt8
    let cb: UInt8
    let cr: UInt8
    let red: UInt8
    let green: UInt8
    let blue: UInt8

    static let white = TestColor(y: 235, cb: 128, cr: 128, red: 255, green: 255, blue: 255)
    static let black = TestColor(y: 16, cb: 128, cr: 128, red: 0, green: 0, blue: 0)

    static func grey(_ y: UInt8) -> TestColor {
        let level = UInt8((Int(y) - 16) * 255 / 219)
        return TestColor(y: y, cb: 128, cr: 128, red: level, green: level, blue: level)
    }

    /// The bars at 75 % of ITU-R BT.471 in BT.601's numbers.
    static let bars = [
        TestColor(y: 180, cb: 128, cr: 128, red: 191, green: 191, blue: 191),
        TestColor(y: 162, cb: 44, cr: 142, red: 191, green: 191, blue: 0),
        TestColor(y: 131, cb: 156, cr: 44, red: 0, green: 191, blue: 191),
        TestColor(y: 112, cb: 72, cr: 58, red: 0, green: 191, blue: 0),
        TestColor(y: 84, cb: 184, cr: 198, red: 191, green: 0, blue: 191),
        TestColor(y: 65, cb: 100, cr: 212, red: 191, green: 0, blue: 0),
        TestColor(y: 35, cb: 212, cr: 114, red: 0, green: 0, blue: 191),
        TestColor(y: 16, cb: 128, cr: 128, red: 0, green: 0, blue: 0),
    ]
}

/// Fills rectangles in a picture of any uncompressed format.
struct Canvas {
    private let format: PictureFormat

    init(format: PictureFormat) { self.format = format }

    /// Fills what of `rectangle` lies within `clip` and the picture. Its origin is even.
    func fill(
        _ rectangle: Rectangle, with color: TestColor, within clip: Rectangle,
        in memory: UnsafeMutableRawBufferPointer
    ) {
        let picture = Rectangle(x: 0, y: 0, width: format.size.width, height: format.size.height)
        guard let area = rectangle.intersection(clip)?.intersection(picture) else { return }
        switch format.pixelFormat.arrangement {
        case .semiPlanar420(let first):
            fillPlane(0, area, Sample(color.y), in: memory)
            let chroma = first == .cb ? Sample(color.cb, color.cr) : Sample(color.cr, color.cb)
            fillPlane(1, subsample(area, 2, 2), chroma, in: memory)
        case .planar(let horizontal, let vertical, let first):
            fillPlane(0, area, Sample(color.y), in: memory)
            let chroma = subsample(area, horizontal, vertical)
            fillPlane(1, chroma, Sample(first == .cb ? color.cb : color.cr), in: memory)
            fillPlane(2, chroma, Sample(first == .cb ? color.cr : color.cb), in: memory)
        case .packed422(let order):
            let sample =
                switch order {
                case .yuyv: Sample(color.y, color.cb, color.y, color.cr)
                case .uyvy: Sample(color.cb, color.y, color.cr, color.y)
                case .yvyu: Sample(color.y, color.cr, color.y, color.cb)
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
            fillPlane(0, area, Sample(color.y), in: memory)
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
