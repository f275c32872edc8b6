import CColor
import TestSupport
import Testing

/// Colour conversion with the processor's vector unit.
@Suite struct ColorKernelTests {
    private static let layouts: [(Int32, Int32, Int32, Int32)] = [
        (3, 0, 1, 2), (3, 2, 1, 0), (4, 2, 1, 0), (4, 1, 2, 3), (4, 3, 2, 1),
    ]

    @Test(
        "is bit for bit what plain C computes, at every width, and touches nothing else", arguments: layouts)
    func exact(bytesPerPixel: Int32, red: Int32, green: Int32, blue: Int32) {
        var rgb = color_rgb(
            layout: color_layout(bytes_per_pixel: bytesPerPixel, red: red, green: green, blue: blue),
            luma: color_weights(red: 9798, green: 19235, blue: 3735, bias: 16384),
            cb: color_weights(red: -5529, green: -10855, blue: 16384, bias: 128 << 15 + 16384),
            cr: color_weights(red: 16384, green: -13720, blue: -2664, bias: 128 << 15 + 16384))
        var random = SeededGenerator(seed: 19)
        for width in 1...150 {
            // Noise, and the extremes that saturate.
            for extremes in [false, true] {
                let rows = (0..<2).map { _ in
                    (0..<width * Int(bytesPerPixel)).map { _ in
                        extremes
                            ? (Bool.random(using: &random) ? 255 : 0)
                            : UInt8.random(in: 0...255, using: &random)
                    }
                }
                for step: Int32 in 1...2 {
                    let vector = convert(rows, width, step) { color_convert_rgb(&rgb, $0, Int32(width), $1) }
                    let plain = convert(rows, width, step) {
                        color_convert_rgb_plainly(&rgb, $0, Int32(width), $1)
                    }
                    #expect(vector == plain, "width \(width)")
                }
            }
        }
    }

    /// The samples, each plane followed by memory that must not be touched.
    private func convert(
        _ rows: [[UInt8]], _ width: Int, _ step: Int32, _ body: (color_rows, color_target) -> Void
    ) -> [UInt8] {
        let chroma = (width + 1) / 2
        let guardLength = 64
        let source = rows.map { row in
            let memory = GuardedMemory(count: row.count)
            _ = memory.bytes.update(fromContentsOf: row)
            return memory
        }
        var samples = [UInt8](repeating: 0xA5, count: 2 * width + 2 * chroma + 4 * guardLength)
        samples.withUnsafeMutableBufferPointer { samples in
            guard let base = samples.baseAddress, let upper = source[0].bytes.baseAddress,
                let lower = source[1].bytes.baseAddress
            else { return }
            let lowerLuma = base + width + guardLength
            let cb = lowerLuma + width + guardLength
            let cr = step == 2 ? cb + 1 : cb + chroma + guardLength
            body(
                color_rows(upper: upper, lower: lower),
                color_target(upper: base, lower: lowerLuma, cb: cb, cr: cr, chroma_step: step))
        }
        return samples
    }
}
