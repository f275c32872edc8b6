import Glibc
import CamPictures
import TestSupport

/// A place before a camera, rendered as small luma pictures: what things reflect, times the light that falls on them,
/// through a camera with a gamma curve, a limited range and noise.
struct Scene {
    let layout: LumaThumbnail.Layout
    /// How much light each cell reflects, 0 … 1.
    private let reflectance: [Float]
    private var random: SeededGenerator
    private let curve: [Float]

    /// The light that is everywhere.
    var ambient: Float = 0.6
    var lamps: [Lamp] = []
    var movers: [Mover] = []
    /// The camera's amplification, by time in seconds.
    var gain: (Double) -> Float = { _ in 1 }
    /// The light's share, by time and by place from the top (0) to the bottom (1).
    var flicker: ((Double, Float) -> Float)?
    /// The standard deviation of a cell's noise at a gain of 1, in levels.
    var noise: Float = 0.5

    init(_ size: PictureSize, seed: UInt64) {
        layout = LumaThumbnail.Layout(of: size)
        random = SeededGenerator(seed: seed)
        reflectance = Self.reflectance(layout, &random)
        curve = (0...4096).map { 16 + 219 * powf(Float($0) / 4096, 1 / 2.2) }
    }

    /// Surfaces with edges, and texture in three sizes.
    private static func reflectance(
        _ layout: LumaThumbnail.Layout, _ random: inout SeededGenerator
    ) -> [Float] {
        let (columns, rows) = (layout.columns, layout.rows)
        var result = [Float](repeating: 0.35, count: layout.count)
        for _ in 0..<14 {
            let level = Float.random(in: 0.04...0.9, using: &random)
            let (x, y) = (
                Int.random(in: -9..<columns, using: &random), Int.random(in: -9..<rows, using: &random)
            )
            let width = Int.random(in: columns / 12...columns / 3, using: &random)
            let height = Int.random(in: rows / 10...rows / 2, using: &random)
            for row in max(0, y)..<max(0, min(rows, y + height)) {
                for column in max(0, x)..<max(0, min(columns, x + width)) {
                    result[row * columns + column] = level
                }
            }
        }
        for side in [9, 4, 1] {
            let across = columns / side + 2
            let values = (0..<across * (rows / side + 2)).map { _ in Float.random(in: -1...1, using: &random)
            }
            for cell in 0..<layout.count {
                let (column, row) = (cell % columns, cell / columns)
                result[cell] *= 1 + 0.12 * values[row / side * across + column / side]
            }
        }
        return result.map { max(0.02, min(0.95, $0)) }
    }

    /// Renders the picture of a time in seconds.
    mutating func draw(at time: Double, into picture: LumaThumbnail) {
        let (columns, gain) = (layout.columns, gain(time))
        let levels = lamps.map { $0.level(time) }
        for row in 0..<layout.rows {
            let share = flicker?(time, Float(row) / Float(layout.rows)) ?? 1
            for column in 0..<columns {
                let cell = row * columns + column
                var light = ambient
                for (lamp, level) in zip(lamps, levels) where level > 0 {
                    light += level * lamp.falloff[cell]
                }
                var surface = reflectance[cell]
                for mover in movers {
                    surface = mover.surface(Float(column), Float(row), time, over: surface)
                }
                let linear = min(1, max(0, surface * light * share * gain))
                let level = curve[Int(linear * 4096)] + noise * gain.squareRoot() * deviate()
                picture.cells[cell] = UInt16(max(0, min(255, level)) * Float(LumaThumbnail.stepsPerLevel))
            }
        }
    }

    /// Nearly Gaussian: the sum of eight bytes.
    private mutating func deviate() -> Float {
        var (bits, sum) = (random.next(), 0)
        for _ in 0..<8 {
            sum += Int(bits & 255)
            bits >>= 8
        }
        return (Float(sum) - 1020) / 209
    }
}

/// A light of its own, with a place and with hard shadows.
struct Lamp {
    /// What reaches each cell, 0 … 1.
    let falloff: [Float]
    /// By time in seconds.
    var level: (Double) -> Float

    init(_ layout: LumaThumbnail.Layout, seed: UInt64, level: @escaping (Double) -> Float) {
        var random = SeededGenerator(seed: seed)
        let (columns, rows) = (Float(layout.columns), Float(layout.rows))
        let x = Float.random(in: 0...columns, using: &random)
        let y = Float.random(in: -0.3 * rows...0.5 * rows, using: &random)
        let reach = Float.random(in: 0.3...1.2, using: &random) * columns
        // Something stands in the way: a shadow with a straight edge.
        let slope = Float.random(in: -1...1, using: &random)
        let edge = Float.random(in: 0.1...0.9, using: &random) * columns
        falloff = (0..<layout.count).map { cell in
            let (column, row) = (Float(cell % layout.columns), Float(cell / layout.columns))
            let distance = ((column - x) * (column - x) + (row - y) * (row - y)).squareRoot() / reach
            let isInShadow = column + slope * row > edge && column + slope * row < edge + columns / 8
            return (isInShadow ? 0.3 : 1) / (1 + 2 * distance * distance)
        }
        self.level = level
    }
}

/// Something that moves: upright, with a darker or lighter lower half.
struct Mover {
    /// In cells.
    var (width, height): (Float, Float)
    /// Reflectances, 0 … 1.
    var (upper, lower): (Float, Float)
    /// The middle when it appears, in cells.
    var start: SIMD2<Float>
    /// Cells a second.
    var velocity: SIMD2<Float>
    /// When it is there, in seconds.
    var times: ClosedRange<Double>

    /// What a cell shows.
    func surface(_ column: Float, _ row: Float, _ time: Double, over background: Float) -> Float {
        guard times.contains(time) else { return background }
        let middle = start + velocity * Float(time - times.lowerBound)
        let (x, y) = (abs(column - middle.x) - width / 2, abs(row - middle.y) - height / 2)
        let cover = max(0, min(1, 0.5 - x)) * max(0, min(1, 0.5 - y))
        guard cover > 0 else { return background }
        return background + cover * ((row < middle.y ? upper : lower) - background)
    }
}
