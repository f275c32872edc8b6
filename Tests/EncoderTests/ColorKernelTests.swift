import CYUV
import TestSupport
import Testing

/// Colour conversion with the processor's vector unit.
@Suite struct ColorKernelTests {
    private static let layouts: [(Int32, Int32, Int32, Int32)] = [
        (3, 0, 1, 2), (3, 2, 1, 0), (4, 2, 1, 0), (4, 1, 2, 3), (4, 3, 2, 1),
    ]

    /// Those that the processor has, plain C first.
    private static var units: [color_unit] {
        [COLOR_PLAIN, COLOR_VECTOR, COLOR_WIDEST].filter { $0.rawValue <= color_best_unit().rawValue }
    }

    @Test(
        "is bit for bit what plain C computes, at every width, and touches nothing else", arguments: layouts)
    func exact(bytesPerPixel: Int32, red: Int32, green: Int32, blue: Int32) {
        var random = SeededGenerator(seed: 19)
        func weights(_ bias: Int32) -> color_weights {
            func weight() -> Int16 { Int16.random(in: -32768...32639, using: &random) / 3 }
            return color_weights(red: weight(), green: weight(), blue: weight(), bias: bias)
        }
        for width in 1...150 {
            var rgb = color_rgb(
                layout: color_layout(bytes_per_pixel: bytesPerPixel, red: red, green: green, blue: blue),
                luma: color_weights(red: 9798, green: 19235, blue: 3735, bias: 16384),
                cb: color_weights(red: -5529, green: -10855, blue: 16384, bias: 128 << 15 + 16384),
                cr: color_weights(red: 16384, green: -13720, blue: -2664, bias: 128 << 15 + 16384))
            if width.isMultiple(of: 3) {
                (rgb.luma, rgb.cb, rgb.cr) = (weights(12345), weights(128 << 15 + 1), weights(-7 << 15))
            }
            for extremes in [false, true] {
                let rows = (0..<2).map { _ in
                    noise(width * Int(bytesPerPixel), extremes: extremes, &random)
                }
                for step: Int32 in 1...2 {
                    let results = Self.units.map { unit in
                        convert(rows, width, step) {
                            color_convert_rgb(
                                &rgb, unit, color_rows(upper: $0[0], lower: $0[1]), Int32(width), $1)
                        }
                    }
                    #expect(results.allSatisfy { $0 == results[0] }, "width \(width)")
                }
            }
        }
    }

    @Test("the mean of squares is bit for bit what it should be, at every width, and touches nothing else")
    func boxes() {
        var random = SeededGenerator(seed: 23)
        for ratio in 2...4 {
            for width in Array(1...150) + [255, 256, 257, 600] {
                let rows = noise(ratio * ratio * width, extremes: width % 3 == 0, &random)
                let expected = (0..<width).map { x in
                    let square = (0..<ratio * ratio).map {
                        rows[$0 / ratio * ratio * width + ratio * x + $0 % ratio]
                    }
                    return UInt8((square.reduce(0) { $0 + Int($1) } + ratio * ratio / 2) / (ratio * ratio))
                }
                for scale in [color_scale_box, color_scale_box_plainly] {
                    var result = [UInt8](repeating: 77, count: width + 40)
                    rows.withUnsafeBufferPointer {
                        scale($0.baseAddress, ratio * width, Int32(ratio), Int32(width), &result)
                    }
                    #expect(
                        result == expected + [UInt8](repeating: 77, count: 40), "width \(width), \(ratio)")
                }
            }
        }
    }

    @Test("changes range and matrix bit for bit as plain C does, at every width, with any factors")
    func changes() {
        var random = SeededGenerator(seed: 20)
        func factor() -> Int16 { Int16.random(in: .min ... .max, using: &random) }
        for width in 1...150 {
            for (extremes, isRangeAlone) in [(false, false), (true, false), (false, true), (true, true)] {
                func mixing() -> Int16 { isRangeAlone ? 0 : factor() }
                var change = color_change(
                    luma: factor(), cb_to_luma: mixing(), cr_to_luma: mixing(),
                    black: .random(in: .min ... .max, using: &random),
                    new_black: .random(in: .min ... .max, using: &random), cb_to_cb: factor(),
                    cr_to_cb: mixing(), cb_to_cr: mixing(), cr_to_cr: factor())
                let lengths = [width, width, (width + 1) / 2, (width + 1) / 2]
                let rows = lengths.map { noise($0, extremes: extremes, &random) }
                for step: Int32 in 1...2 {
                    let vector = convert(rows, width, step) {
                        color_change_rows(&change, Self.planes($0), Int32(width), $1)
                    }
                    let plain = convert(rows, width, step) {
                        color_change_rows_plainly(&change, Self.planes($0), Int32(width), $1)
                    }
                    #expect(vector == plain, "width \(width), range alone: \(isRangeAlone)")
                }
            }
        }
    }

    private static func planes(_ rows: [UnsafePointer<UInt8>]) -> color_planes {
        color_planes(upper: rows[0], lower: rows[1], cb: rows[2], cr: rows[3])
    }

    @Test("averages pairs bit for bit as plain C does, at every width")
    func halves() {
        var random = SeededGenerator(seed: 21)
        for width in 1...150 {
            let rows = (0..<2).map { _ in noise(2 * width, extremes: false, &random) }
            let vector = convert(rows, width, 1) {
                color_halve_pairs($0[0], $0[1], Int32(width), $1.upper)
            }
            let plain = convert(rows, width, 1) {
                color_halve_pairs_plainly($0[0], $0[1], Int32(width), $1.upper)
            }
            #expect(vector == plain, "width \(width)")
        }
    }

    /// Noise, or the extremes that saturate.
    private func noise(_ count: Int, extremes: Bool, _ random: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in
            extremes
                ? (Bool.random(using: &random) ? 255 : 0) : UInt8.random(in: 0...255, using: &random)
        }
    }

    /// The samples, each plane followed by memory that must not be touched.
    private func convert(
        _ rows: [[UInt8]], _ width: Int, _ step: Int32,
        _ body: ([UnsafePointer<UInt8>], color_target) -> Void
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
            guard let base = samples.baseAddress else { return }
            let lowerLuma = base + width + guardLength
            let cb = lowerLuma + width + guardLength
            let cr = step == 2 ? cb + 1 : cb + chroma + guardLength
            body(
                source.compactMap { $0.bytes.baseAddress.map { UnsafePointer($0) } },
                color_target(upper: base, lower: lowerLuma, cb: cb, cr: cr, chroma_step: step))
        }
        return samples
    }
}
