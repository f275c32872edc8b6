import CamPictures

/// The usual luma of each cell, and how much it varies while nothing moves.
///
/// `LightModel` predicts the background in the light of a picture. The rest of a picture's difference is
/// noise, or something new.
final class Background {
    let layout: LumaThumbnail.Layout
    /// Whether a cell is ignored.
    let isIgnored: CellPlane<Bool>
    /// The deviation of each cell from its expected luma, in levels: the mean over the cell and its
    /// neighbors.
    let difference: CellPlane<Float>
    /// The smallest `difference` of a changed cell.
    let threshold: CellPlane<Float>
    let isChanged: CellPlane<Bool>
    /// The number of changed cells.
    private(set) var changedCount = 0
    /// The number of cells that are not ignored.
    let watchedCount: Int

    private let light: LightModel
    /// The usual luma, in levels above black.
    private let usual: CellPlane<Float>
    /// The usual amount of `difference`, in levels.
    private let noise: CellPlane<Float>
    private var meanNoise: Float = 0
    /// The `difference` of each of the last pictures, as a ring.
    private let history: CellPlane<Float>
    private let unsmoothed: CellPlane<Float>
    private let sums: CellPlane<Float>
    /// The number of pictures since the background was last restarted.
    private(set) var pictureCount = 0

    /// The prediction of the background is the less certain, the more the light has changed.
    private static let lightDoubt: Float = 0.2
    /// One second at ten pictures per second.
    private static let historyLength = 10
    /// The change that counts as lively, as a part of the threshold.
    private static let livelyShare: Float = 0.7
    /// The threshold as a multiple of the usual difference. A mean deviation is 0.8 standard deviations of
    /// Gaussian noise.
    private static let thresholdFactor: Float = 5
    /// The least threshold, in levels: quantization and compression have steps.
    private static let leastThreshold: Float = 1.2
    /// Time constants of unchanged cells, in seconds.
    private static let (timeConstant, noiseTimeConstant): (Float, Float) = (5, 10)
    /// Time constants of changed cells, in seconds: in lively areas, and in still ones.
    private static let (livelyTimeConstant, stillTimeConstant): (Float, Float) = (30, 3)

    /// - Parameter black: the level of black.
    init(_ layout: LumaThumbnail.Layout, black: Int, isIgnored ignores: (Int) -> Bool) {
        self.layout = layout
        let count = layout.count
        isIgnored = CellPlane(count, false)
        difference = CellPlane(count, 0)
        threshold = CellPlane(count, 0)
        isChanged = CellPlane(count, false)
        usual = CellPlane(count, 0)
        noise = CellPlane(count, 0)
        history = CellPlane(count * Self.historyLength, 0)
        unsmoothed = CellPlane(count, 0)
        sums = CellPlane(count, 0)
        light = LightModel(layout, black: black)
        var ignoredCount = 0
        for cell in 0..<count where ignores(cell) {
            isIgnored.values[cell] = true
            ignoredCount += 1
        }
        watchedCount = count - ignoredCount
    }

    /// The part of the watched cells that has changed.
    var changedShare: Float { Float(changedCount) / Float(max(1, watchedCount)) }

    /// How much brighter the last picture was exposed than the background.
    var gain: Float { light.gain }

    /// Forgets everything.
    func restart() {
        pictureCount = 0
        changedCount = 0
        history.fill(0)
        isChanged.fill(false)
    }

    /// Learns from a picture, whatever it shows.
    func learn(_ picture: LumaThumbnail) {
        pictureCount += 1
        guard pictureCount > 1 else {
            light.show(picture, isIgnored)
            for cell in 0..<layout.count {
                usual.values[cell] = light.current(cell)
                noise.values[cell] = 0
            }
            return
        }
        compare(picture)
        let (weight, noiseWeight) = (1 / Float(pictureCount), 1 / Float(pictureCount - 1))
        for cell in 0..<layout.count {
            follow(cell, weight)
            // The background, a mean of few pictures, is noisy itself.
            let amount = min(abs(difference.values[cell]) * (1 - weight).squareRoot(), Self.mostLearned)
            noise.values[cell] += (amount - noise.values[cell]) * noiseWeight
        }
        measureNoise()
    }

    /// Limits the effect of motion during learning on the noise, in levels.
    private static let mostLearned: Float = 6

    /// Few pictures say little about the noise of a single cell, so the mean of all cells is mixed in.
    func finishLearning() {
        for cell in 0..<layout.count { noise.values[cell] = (noise.values[cell] + meanNoise) / 2 }
    }

    /// Whether a changed cell keeps changing, rather than showing something new but still.
    func isLively(_ cell: Int) -> Bool {
        let now = difference.values[cell]
        let before = history.values[pictureCount % Self.historyLength * layout.count + cell]
        // The background has followed since then.
        return abs(now - before) > Self.livelyShare * threshold.values[cell] + abs(now) / 4
    }

    /// Finds the changed cells of a picture.
    func look(at picture: LumaThumbnail) {
        pictureCount += 1
        compare(picture)
        let scale = noiseScale * Self.thresholdFactor
        let least = meanNoise / 2
        changedCount = 0
        for cell in 0..<layout.count {
            let shift = abs(light.expected(cell) - usual.values[cell])
            let limit = scale * max(noise.values[cell], least) + Self.leastThreshold + Self.lightDoubt * shift
            threshold.values[cell] = limit
            let changes = !isIgnored.values[cell] && abs(difference.values[cell]) > limit
            isChanged.values[cell] = changes
            if changes { changedCount += 1 }
        }
    }

    /// Adapts the background to the picture, slowly in changed cells.
    /// - Parameters:
    ///   - seconds: the time since the previous picture.
    ///   - isLively: whether the area of a changed cell is lively.
    func adapt(seconds: Float, isLively: (Int) -> Bool) {
        let weight = min(1, seconds / Self.timeConstant)
        let noiseWeight = min(1, seconds / Self.noiseTimeConstant)
        let livelyWeight = min(1, seconds / Self.livelyTimeConstant)
        let stillWeight = min(1, seconds / Self.stillTimeConstant)
        (history.values + pictureCount % Self.historyLength * layout.count).update(
            from: difference.values, count: layout.count)
        for cell in 0..<layout.count {
            let amount = min(abs(difference.values[cell]), 3 * noise.values[cell] + 1)
            if isChanged.values[cell] {
                // The light also changes behind a moving thing.
                let expected = light.expected(cell)
                let changedWeight = isLively(cell) ? livelyWeight : stillWeight
                usual.values[cell] +=
                    (expected - usual.values[cell]) * weight + (light.current(cell) - expected)
                    * changedWeight
                noise.values[cell] += (amount - noise.values[cell]) * noiseWeight / 8
            } else {
                follow(cell, weight)
                noise.values[cell] += (amount - noise.values[cell]) * noiseWeight
            }
        }
        measureNoise()
    }

    private func follow(_ cell: Int, _ weight: Float) {
        usual.values[cell] += (light.current(cell) - usual.values[cell]) * weight
    }

    private func measureNoise() {
        var sum: Float = 0
        for cell in 0..<layout.count where !isIgnored.values[cell] { sum += noise.values[cell] }
        meanNoise = sum / Float(max(1, watchedCount))
    }

    /// How much noisier the picture is than usual, at least 1: a camera's higher gain immediately brings more
    /// noise.
    private var noiseScale: Float {
        var sum: Float = 0
        let least = meanNoise / 2 + 0.05
        for cell in 0..<layout.count where !isIgnored.values[cell] {
            sum += min(3, abs(difference.values[cell]) / max(least, noise.values[cell]))
        }
        return max(1, sum / Float(max(1, watchedCount)))
    }

    /// Computes `difference`.
    private func compare(_ picture: LumaThumbnail) {
        light.expect(picture, usual: usual, isIgnored: isIgnored, isChanged: isChanged)
        let (columns, rows) = (layout.columns, layout.rows)
        for cell in 0..<layout.count { unsmoothed.values[cell] = light.deviation(cell) }
        for row in 0..<rows {
            let start = row * columns
            for column in 0..<columns {
                let cell = start + column
                sums.values[cell] =
                    unsmoothed.values[column > 0 ? cell - 1 : cell] + unsmoothed.values[cell]
                    + unsmoothed.values[column + 1 < columns ? cell + 1 : cell]
            }
        }
        for row in 0..<rows {
            let (above, below) = (row > 0 ? columns : 0, row + 1 < rows ? columns : 0)
            for cell in row * columns..<(row + 1) * columns {
                difference.values[cell] =
                    (sums.values[cell - above] + sums.values[cell] + sums.values[cell + below]) / 9
            }
        }
    }
}

/// Memory for one value per cell of a small picture.
struct CellPlane<Value: BitwiseCopyable>: ~Copyable {
    /// `count` values, which live as long as the plane.
    let values: UnsafeMutablePointer<Value>
    let count: Int

    init(_ count: Int, _ value: Value) {
        values = .allocate(capacity: count)
        values.initialize(repeating: value, count: count)
        self.count = count
    }

    deinit { values.deallocate() }

    func fill(_ value: Value) { values.update(repeating: value, count: count) }
}
