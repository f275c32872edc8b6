import CYUV
import Pictures

/// RGB of three or four bytes a pixel, converted straight to the wanted encoding with coefficients of 15
/// bits: at most one step from the exact result. Chroma is that of each 2×2 block's mean colour.
final class RGBReader: PictureReader {
    /// The largest number of pixels that libyuv splits at once.
    private static let vectorWidth = 32
    private let width: Int
    private let bytesPerPixel: Int
    /// Where in a pixel the red, green and blue bytes are.
    private let offsets: (red: Int, green: Int, blue: Int)
    /// Two rows of each of a pixel's bytes.
    private let channels: UnsafeMutablePointer<UInt8>
    private let channelLength: Int
    private let redSums, greenSums, blueSums: UnsafeMutablePointer<Int16>
    private let chromaRows: UnsafeMutablePointer<UInt8>
    private let luma, cb, cr: Weights

    /// Weights of red, green and blue, times 2¹⁵, and what is added to the sum: offset and rounding.
    private struct Weights {
        let red, green, blue: Int16
        let bias: Int32

        init(_ red: Double, _ blue: Double, sum: Double, offset: Double) {
            let scale = 32768.0
            self.red = Int16((red * scale).rounded())
            self.blue = Int16((blue * scale).rounded())
            // The remainder, so that grey stays exactly grey.
            green = Int16((sum * scale).rounded() - Double(self.red) - Double(self.blue))
            bias = Int32(offset * scale) + 16384
        }
    }

    init(
        _ format: PictureFormat, bytesPerPixel: Int, offsets: (Int, Int, Int), color: ColorEncoding
    ) {
        width = format.size.width
        self.bytesPerPixel = bytesPerPixel
        self.offsets = offsets
        channelLength = 2 * width
        channels = .allocateAligned(count: 4 * channelLength)
        redSums = .allocate(capacity: half(width))
        greenSums = .allocate(capacity: half(width))
        blueSums = .allocate(capacity: half(width))
        chromaRows = .allocateAligned(count: 2 * half(width))
        let (red, blue) = color.matrix.weights
        let levels = color.range.levels
        let lumaScale = levels.luma / 255
        let chromaScale = levels.chroma / 255
        luma = Weights(red * lumaScale, blue * lumaScale, sum: lumaScale, offset: levels.black)
        cb = Weights(-red / (1 - blue) * chromaScale, chromaScale, sum: 0, offset: 128)
        cr = Weights(chromaScale, -blue / (1 - red) * chromaScale, sum: 0, offset: 128)
    }

    deinit {
        channels.deallocate()
        redSums.deallocate()
        greenSums.deallocate()
        blueSums.deallocate()
        chromaRows.deallocate()
    }

    var writesWantedColor: Bool { true }

    func read(_ rows: Range<Int>, from source: borrowing SourceBand, into band: PictureSurface.Band) {
        let source = source.plane(0)
        for pair in 0..<band.chromaRows {
            let rows = min(2, band.rows - 2 * pair)
            split(source.from(row: 2 * pair), rows: rows)
            for row in 0..<rows { writeLuma(row, to: band.luma.row(2 * pair + row)) }
            addBlocks(rows: rows)
            switch band.chroma {
            case .interleaved(let plane):
                let (cbRow, crRow) = (chromaRows, chromaRows + half(width))
                writeChroma(cb, to: cbRow)
                writeChroma(cr, to: crRow)
                MergeUVPlane(cbRow, 0, crRow, 0, plane.row(pair), 0, Int32(half(width)), 1)
            case .separate(let cbPlane, let crPlane):
                writeChroma(cb, to: cbPlane.row(pair))
                writeChroma(cr, to: crPlane.row(pair))
            }
        }
    }

    /// Splits a pair of rows into `channels`.
    private func split(_ source: SourcePlane, rows: Int) {
        if bytesPerPixel == 3 {
            // libyuv 1904 (2025, AVX2) splits what is left after whole vectors in a stack buffer that holds
            // only half a vector: it overflows.
            let whole = width & ~(Self.vectorWidth - 1)
            splitVectors(source, columns: whole, rows: rows)
            for row in 0..<rows { splitPixels(source.row(row), columns: whole..<width, row: row) }
        } else {
            let (stride, width, rows) = (Int32(source.stride), Int32(width), Int32(rows))
            SplitARGBPlane(
                source.base, stride, channel(2), width, channel(1), width, channel(0), width, channel(3),
                width, width, rows)
        }
    }

    private func splitVectors(_ source: SourcePlane, columns: Int, rows: Int) {
        guard columns > 0 else { return }
        let (stride, width) = (Int32(source.stride), Int32(width))
        SplitRGBPlane(
            source.base, stride, channel(0), width, channel(1), width, channel(2), width, Int32(columns),
            Int32(rows))
    }

    private func splitPixels(_ pixels: UnsafePointer<UInt8>, columns: Range<Int>, row: Int) {
        for number in 0..<3 {
            let samples = channel(number) + row * width
            for x in columns { samples[x] = pixels[3 * x + number] }
        }
    }

    /// The rows of a pixel's byte `number`.
    private func channel(_ number: Int) -> UnsafeMutablePointer<UInt8> { channels + number * channelLength }

    // The loops work on copies of properties, because the compiler must assume that writing a sample changes
    // them. With 16-bit weights it can use the multiplications that every vector unit has.

    private func writeLuma(_ row: Int, to result: UnsafeMutablePointer<UInt8>) {
        let red = channel(offsets.red) + row * width
        let green = channel(offsets.green) + row * width
        let blue = channel(offsets.blue) + row * width
        let (weights, width) = (luma, width)
        for x in 0..<width {
            let sum =
                Int32(red[x]) &* Int32(weights.red) &+ Int32(green[x]) &* Int32(weights.green)
                &+ Int32(blue[x]) &* Int32(weights.blue)
            result[x] = UInt8(truncatingIfNeeded: (sum &+ weights.bias) &>> 15)
        }
    }

    /// The sums of each 2×2 block's red, green and blue.
    private func addBlocks(rows: Int) {
        let lower = rows == 2 ? width : 0
        addBlocks(channel(offsets.red), lower: lower, to: redSums)
        addBlocks(channel(offsets.green), lower: lower, to: greenSums)
        addBlocks(channel(offsets.blue), lower: lower, to: blueSums)
    }

    /// At an odd edge the last column counts twice.
    ///
    /// - Parameter lower: the distance from the blocks' first row to the second; 0 if that is missing.
    private func addBlocks(
        _ samples: UnsafePointer<UInt8>, lower: Int, to sums: UnsafeMutablePointer<Int16>
    ) {
        let width = width
        for x in 0..<width / 2 {
            sums[x] =
                Int16(samples[2 &* x]) &+ Int16(samples[2 &* x &+ 1]) &+ Int16(samples[2 &* x &+ lower])
                &+ Int16(samples[2 &* x &+ lower &+ 1])
        }
        if width % 2 == 1 {
            sums[width / 2] = 2 * (Int16(samples[width - 1]) + Int16(samples[width - 1 + lower]))
        }
    }

    private func writeChroma(_ weights: Weights, to result: UnsafeMutablePointer<UInt8>) {
        let (red, green, blue) = (redSums, greenSums, blueSums)
        for x in 0..<half(width) {
            let sum =
                Int32(red[x]) &* Int32(weights.red) &+ Int32(green[x]) &* Int32(weights.green)
                &+ Int32(blue[x]) &* Int32(weights.blue)
            // Full-range chroma reaches 255.5, which is clipped.
            result[x] = UInt8(truncatingIfNeeded: min((sum &+ weights.bias &* 4) &>> 17, 255))
        }
    }
}
