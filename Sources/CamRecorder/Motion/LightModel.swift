import CamPictures

/// Predicts the background in the light of a picture.
///
/// Light changes pictures in three ways, from the whole to the part. Exposure and black level change all
/// cells by one gain and one offset. Mains flicker changes whole rows, because sensors read row after row.
/// Lamps and clouds change a neighborhood by a gain. A moving thing is smaller than a neighborhood, or has
/// edges.
final class LightModel {
    private let layout: LumaThumbnail.Layout
    /// The level of black, in steps.
    private let black: Int32
    /// The luma of the latest picture, in steps above black; 0 for ignored cells.
    private let now: CellPlane<Int32>
    private let predicted: CellPlane<Int32>
    private let deviations: CellPlane<Float>
    /// The sums of each column's unchanged cells within reach.
    private let columnSums: CellPlane<SIMD4<Int32>>
    /// The reach of a neighborhood, in cells.
    private let reach: Int
    /// How much brighter the last picture was exposed than the background.
    private(set) var gain: Float = 1

    private static let steps = Float(LumaThumbnail.stepsPerLevel)
    /// Keeps the noise of dark cells from making gains, in steps for each cell.
    private static let darkness: Float = 2 * steps

    /// - Parameter black: the level of black.
    init(_ layout: LumaThumbnail.Layout, black: Int) {
        self.layout = layout
        self.black = Int32(black * LumaThumbnail.stepsPerLevel)
        now = CellPlane(layout.count, 0)
        predicted = CellPlane(layout.count, 0)
        deviations = CellPlane(layout.count, 0)
        columnSums = CellPlane(layout.columns, .zero)
        reach = max(1, min(layout.columns, layout.rows) / 10)
    }

    /// The luma of a cell, in levels above black.
    func current(_ cell: Int) -> Float { Float(now.values[cell]) / Self.steps }

    /// The predicted luma of the background, in levels above black.
    func expected(_ cell: Int) -> Float { current(cell) - deviations.values[cell] }

    /// The difference between `current` and `expected`, in levels.
    func deviation(_ cell: Int) -> Float { deviations.values[cell] }

    /// Reads a picture.
    func show(_ picture: LumaThumbnail, _ isIgnored: borrowing CellPlane<Bool>) {
        for cell in 0..<layout.count {
            now.values[cell] = isIgnored.values[cell] ? 0 : max(0, Int32(picture.cells[cell]) - black)
        }
    }

    /// Compares a picture with the background.
    func expect(
        _ picture: LumaThumbnail, usual: borrowing CellPlane<Float>, isIgnored: borrowing CellPlane<Bool>,
        isChanged: borrowing CellPlane<Bool>
    ) {
        show(picture, isIgnored)
        let fit = fitExposure(usual, isIgnored, isChanged)
        gain = fit.gain
        var (darkest, brightest) = (Int32.max, Int32.min)
        var (darkestUsual, brightestUsual) = (Float.infinity, -Float.infinity)
        for cell in 0..<layout.count where !isIgnored.values[cell] {
            darkest = min(darkest, now.values[cell])
            brightest = max(brightest, now.values[cell])
            darkestUsual = min(darkestUsual, usual.values[cell])
            brightestUsual = max(brightestUsual, usual.values[cell])
        }
        for cell in 0..<layout.count {
            predicted.values[cell] =
                isIgnored.values[cell]
                ? 0 : Int32(max(0, min(65535, (fit.gain * usual.values[cell] + fit.offset) * Self.steps)))
        }
        for row in 0..<layout.rows { fitRow(row, isIgnored, isChanged) }
        fitNeighbourhoods(darkest: darkest, brightest: max(darkest, brightest), isIgnored, isChanged)
        // Of cells that were too bright or too dark for the sensor, only a bound of the luma is known.
        for cell in 0..<layout.count {
            let level = usual.values[cell]
            if level >= brightestUsual - Self.clippingMargin, deviations.values[cell] > 0 {
                deviations.values[cell] = 0
            } else if level <= darkestUsual + Self.clippingMargin, deviations.values[cell] < 0 {
                deviations.values[cell] = 0
            }
        }
    }

    /// In levels.
    private static let clippingMargin: Float = 4

    private struct Exposure {
        var gain: Float = 1
        /// In levels.
        var offset: Float = 0
        /// The mean deviation of the fitted cells, in levels.
        var tolerance: Float = .infinity
    }

    /// Fits all cells that do not deviate much.
    private func fitExposure(
        _ usual: borrowing CellPlane<Float>, _ isIgnored: borrowing CellPlane<Bool>,
        _ isChanged: borrowing CellPlane<Bool>
    ) -> Exposure {
        var fit = Exposure()
        for pass in 0..<3 {
            var (count, x, y, xx, xy, rest): (Double, Double, Double, Double, Double, Double) = (
                0, 0, 0, 0, 0, 0
            )
            for cell in 0..<layout.count where !isIgnored.values[cell] && !isChanged.values[cell] {
                let (before, after) = (usual.values[cell], current(cell))
                let deviation = abs(after - fit.gain * before - fit.offset)
                if pass > 0, deviation > 3 * fit.tolerance + 1 { continue }
                count += 1
                rest += Double(deviation)
                (x, y) = (x + Double(before), y + Double(after))
                (xx, xy) = (xx + Double(before * before), xy + Double(before * after))
            }
            guard count >= 8 else { return fit }
            let variance = xx / count - (x / count) * (x / count)
            let gain = variance > 1 ? (xy / count - x / count * y / count) / variance : 1
            fit.gain = Float(max(0.05, min(20, gain)))
            fit.offset = Float(y / count) - fit.gain * Float(x / count)
            fit.tolerance = pass == 0 ? deviation(of: fit, usual, isIgnored, isChanged) : Float(rest / count)
        }
        return fit
    }

    /// The mean deviation of all cells.
    private func deviation(
        of fit: Exposure, _ usual: borrowing CellPlane<Float>, _ isIgnored: borrowing CellPlane<Bool>,
        _ isChanged: borrowing CellPlane<Bool>
    ) -> Float {
        var (sum, count): (Float, Float) = (0, 0)
        for cell in 0..<layout.count where !isIgnored.values[cell] && !isChanged.values[cell] {
            sum += abs(current(cell) - fit.gain * usual.values[cell] - fit.offset)
            count += 1
        }
        return sum / max(1, count)
    }

    /// Scales a row's prediction to match most of its cells.
    private func fitRow(
        _ row: Int, _ isIgnored: borrowing CellPlane<Bool>, _ isChanged: borrowing CellPlane<Bool>
    ) {
        let cells = row * layout.columns..<(row + 1) * layout.columns
        var gain: Float = 1
        var limit = Float.infinity
        for pass in 0..<2 {
            var (current, expected, count): (Float, Float, Float) = (0, 0, 0)
            for cell in cells where !isIgnored.values[cell] && !isChanged.values[cell] {
                let (after, before) = (Float(now.values[cell]), Float(predicted.values[cell]))
                if abs(after - gain * before) > limit { continue }
                (current, expected, count) = (current + after, expected + before, count + 1)
            }
            guard count > Float(layout.columns / 4) else { return }
            gain = (current + count * Self.darkness) / (expected + count * Self.darkness)
            if pass == 0 {
                var sum: Float = 0
                for cell in cells where !isIgnored.values[cell] && !isChanged.values[cell] {
                    sum += abs(Float(now.values[cell]) - gain * Float(predicted.values[cell]))
                }
                limit = 2.5 * sum / count + Self.steps
            }
        }
        for cell in cells { predicted.values[cell] = Int32(min(65535, gain * Float(predicted.values[cell]))) }
    }

    /// Computes the deviations from the prediction, which is first scaled to match the unchanged cells of
    /// each neighborhood.
    private func fitNeighbourhoods(
        darkest: Int32, brightest: Int32, _ isIgnored: borrowing CellPlane<Bool>,
        _ isChanged: borrowing CellPlane<Bool>
    ) {
        let (columns, rows) = (layout.columns, layout.rows)
        columnSums.fill(.zero)
        for row in 0..<min(reach, rows) { addRow(row, 1, isIgnored, isChanged) }
        for row in 0..<rows {
            if row + reach < rows { addRow(row + reach, 1, isIgnored, isChanged) }
            if row - reach - 1 >= 0 { addRow(row - reach - 1, -1, isIgnored, isChanged) }
            var sum = SIMD4<Int32>.zero
            for column in 0..<min(reach, columns) { sum &+= columnSums.values[column] }
            let height = min(row + reach, rows - 1) - max(row - reach, 0) + 1
            for column in 0..<columns {
                if column + reach < columns { sum &+= columnSums.values[column + reach] }
                if column - reach - 1 >= 0 { sum &-= columnSums.values[column - reach - 1] }
                let width = min(column + reach, columns - 1) - max(column - reach, 0) + 1
                let cell = row * columns + column
                guard !isIgnored.values[cell] else {
                    deviations.values[cell] = 0
                    continue
                }
                let scaled = Self.gain(sum, of: width * height) * Float(predicted.values[cell])
                deviations.values[cell] =
                    (Float(now.values[cell]) - max(Float(darkest), min(Float(brightest), scaled)))
                    / Self.steps
            }
        }
    }

    /// Adds a row's unchanged cells to the columns' sums: their luma, their prediction, and their number.
    private func addRow(
        _ row: Int, _ sign: Int32, _ isIgnored: borrowing CellPlane<Bool>,
        _ isChanged: borrowing CellPlane<Bool>
    ) {
        for column in 0..<layout.columns {
            let cell = row * layout.columns + column
            guard !isIgnored.values[cell], !isChanged.values[cell] else { continue }
            columnSums.values[column] &+= SIMD4(
                sign * now.values[cell], sign * predicted.values[cell], sign, 0)
        }
    }

    /// The gain of a neighborhood, from the sums of its unchanged cells; 1 if too few cells are unchanged.
    private static func gain(_ sum: SIMD4<Int32>, of count: Int) -> Float {
        guard 4 * Int(sum[2]) >= count else { return 1 }
        let dark = darkness * Float(sum[2])
        return max(0.4, min(2.5, (Float(sum[0]) + dark) / (Float(sum[1]) + dark)))
    }
}
