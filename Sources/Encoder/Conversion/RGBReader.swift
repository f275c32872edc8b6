import CYUV
import Capture

/// RGB of three or four bytes a pixel, converted straight to the wanted encoding with coefficients of 15
/// bits: at most one step from the exact result. Chroma is that of a 2×2 block's mean colour.
final class RGBReader: PictureReader {
    private let width: Int
    private let bytesPerPixel: Int
    /// Where in a pixel the red, green and blue bytes are.
    private let offsets: (red: Int, green: Int, blue: Int)
    /// Two rows of each of a pixel's bytes.
    private let channels: UnsafeMutablePointer<UInt8>
    private let channelLength: Int
    private let chromaRows: UnsafeMutablePointer<UInt8>
    private let luma, cb, cr: Weights

    /// Weights of red, green and blue, times 2¹⁵, and what is added to the sum: offset and rounding.
    private struct Weights {
        let red, green, blue, bias: Int32

        init(_ red: Double, _ blue: Double, sum: Double, offset: Double) {
            let scale = 32768.0
            self.red = Int32((red * scale).rounded())
            self.blue = Int32((blue * scale).rounded())
            // What is left, so that grey stays exactly grey.
            green = Int32((sum * scale).rounded()) - self.red - self.blue
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
        chromaRows.deallocate()
    }

    var writesWantedColor: Bool { true }

    func read(_ rows: Range<Int>, of buffer: borrowing PixelBuffer, into band: PictureSurface.Band) {
        let source = buffer.source(0).from(row: rows.lowerBound)
        for pair in 0..<band.chromaRows {
            let rows = min(2, band.rows - 2 * pair)
            split(source.from(row: 2 * pair), rows: rows)
            for row in 0..<rows { writeLuma(row, to: band.luma.row(2 * pair + row)) }
            let lower = rows == 2 ? width : 0
            switch band.chroma {
            case .interleaved(let plane):
                let (cbRow, crRow) = (chromaRows, chromaRows + half(width))
                writeChroma(cb, lower: lower, to: cbRow)
                writeChroma(cr, lower: lower, to: crRow)
                MergeUVPlane(cbRow, 0, crRow, 0, plane.row(pair), 0, Int32(half(width)), 1)
            case .separate(let cbPlane, let crPlane):
                writeChroma(cb, lower: lower, to: cbPlane.row(pair))
                writeChroma(cr, lower: lower, to: crPlane.row(pair))
            }
        }
    }

    /// Takes a pair of rows apart into `channels`.
    private func split(_ source: SourcePlane, rows: Int) {
        let (stride, width, rows) = (Int32(source.stride), Int32(width), Int32(rows))
        if bytesPerPixel == 3 {
            SplitRGBPlane(
                source.base, stride, channel(0), width, channel(1), width, channel(2), width, width, rows)
        } else {
            SplitARGBPlane(
                source.base, stride, channel(2), width, channel(1), width, channel(0), width, channel(3),
                width, width, rows)
        }
    }

    /// The rows of a pixel's byte `number`.
    private func channel(_ number: Int) -> UnsafeMutablePointer<UInt8> { channels + number * channelLength }

    private func writeLuma(_ row: Int, to result: UnsafeMutablePointer<UInt8>) {
        let red = channel(offsets.red) + row * width
        let green = channel(offsets.green) + row * width
        let blue = channel(offsets.blue) + row * width
        for x in 0..<width {
            let sum =
                Int32(red[x]) &* luma.red &+ Int32(green[x]) &* luma.green
                &+ Int32(blue[x]) &* luma.blue
            result[x] = UInt8(truncatingIfNeeded: (sum &+ luma.bias) &>> 15)
        }
    }

    /// - Parameter lower: where the block's second row is, seen from the first.
    private func writeChroma(_ weights: Weights, lower: Int, to result: UnsafeMutablePointer<UInt8>) {
        let (red, green, blue) = (channel(offsets.red), channel(offsets.green), channel(offsets.blue))
        for x in 0..<width / 2 {
            result[x] = chroma(
                weights, sum(red, 2 * x, 2 * x &+ 1, lower), sum(green, 2 * x, 2 * x &+ 1, lower),
                sum(blue, 2 * x, 2 * x &+ 1, lower))
        }
        if width % 2 == 1 {
            let x = width - 1
            result[width / 2] = chroma(
                weights, sum(red, x, x, lower), sum(green, x, x, lower), sum(blue, x, x, lower))
        }
    }

    @inline(__always)
    private func sum(_ samples: UnsafeMutablePointer<UInt8>, _ left: Int, _ right: Int, _ lower: Int) -> Int32
    {
        Int32(samples[left]) &+ Int32(samples[right]) &+ Int32(samples[left &+ lower])
            &+ Int32(samples[right &+ lower])
    }

    /// From the sums of four samples. Full-range chroma reaches 255.5, which is cut.
    @inline(__always)
    private func chroma(_ weights: Weights, _ red: Int32, _ green: Int32, _ blue: Int32) -> UInt8 {
        let sum = red &* weights.red &+ green &* weights.green &+ blue &* weights.blue
        return UInt8(truncatingIfNeeded: min((sum &+ weights.bias &* 4) &>> 17, 255))
    }
}
