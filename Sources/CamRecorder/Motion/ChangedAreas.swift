import CamPictures
import CamPlatform

/// A connected area of changed cells.
struct ChangedArea {
    /// The number of the area in the picture, from 1. All areas beyond the last number share it.
    let label: UInt8
    /// The number of cells.
    var count = 0
    /// The number of cells that had not changed in the previous picture.
    var gained = 0
    /// The number of cells that keep changing.
    var lively = 0
    /// The mean position of the cells, in cells.
    var center = SIMD2<Float>(0, 0)
    /// The first and last columns and rows.
    var left = Int.max
    var top = Int.max
    var right = Int.min
    var bottom = Int.min
    /// The mean difference of the cells as a multiple of their threshold: at least 1.
    var excess: Float = 0

    /// Whether the area keeps changing.
    var isLively: Bool { lively >= max(2, count / 6) }

    /// The longer side of the bounding box, in cells.
    var side: Float { Float(max(right - left, bottom - top) + 1) }
}

/// Finds the connected areas of changed cells; gaps of a cell connect.
final class ChangedAreas {
    private let layout: LumaThumbnail.Layout
    /// The label of each cell's area, 0 for unchanged cells, in this picture and in the previous one.
    private let labels: CellPlane<UInt8>
    private let formerLabels: CellPlane<UInt8>
    /// For each label of the previous picture, the number of cells that no longer differ.
    private let releases: CellPlane<Int32>
    /// For each label, whether its area is lively.
    private let livelinesses: CellPlane<Bool>
    private let pending: CellPlane<Int32>
    /// The largest areas, the largest first.
    private(set) var largest: [ChangedArea] = []

    /// More areas need not be distinguished.
    private static let mostAreas = 16
    /// Smaller areas are noise.
    private static let fewestCells = 4
    private static let gap = 2

    init(_ layout: LumaThumbnail.Layout) {
        self.layout = layout
        labels = CellPlane(layout.count, 0)
        formerLabels = CellPlane(layout.count, 0)
        releases = CellPlane(Int(UInt8.max) + 1, 0)
        livelinesses = CellPlane(Int(UInt8.max) + 1, false)
        pending = CellPlane(layout.count, 0)
        largest.reserveCapacity(Self.mostAreas + 1)
    }

    /// Finds a picture's areas.
    func find(in background: Background) {
        largest.removeAll(keepingCapacity: true)
        formerLabels.values.update(from: labels.values, count: layout.count)
        labels.fill(0)
        releases.fill(0)
        livelinesses.fill(false)
        var label: UInt8 = 0
        for cell in 0..<layout.count {
            if !background.isChanged.values[cell] {
                releases.values[Int(formerLabels.values[cell])] += 1
            } else if labels.values[cell] == 0 {
                label = label == .max ? label : label + 1
                keep(area(label, from: cell, background))
            }
        }
    }

    /// Forgets the previous pictures.
    func restart() { labels.fill(0) }

    /// Whether the area of a cell is lively.
    func isLively(_ cell: Int) -> Bool { livelinesses.values[Int(labels.values[cell])] }

    /// The number of cells of an area in the previous picture that no longer differ.
    func released(from area: ChangedArea) -> Int {
        Int(releases.values[Int(area.label)])
    }

    private func keep(_ area: ChangedArea) {
        if area.isLively { livelinesses.values[Int(area.label)] = true }
        guard area.count >= Self.fewestCells else { return }
        let place = largest.firstIndex { $0.count < area.count } ?? largest.count
        largest.insert(area, at: place)
        if largest.count > Self.mostAreas { largest.removeLast() }
    }

    private func area(_ label: UInt8, from first: Int, _ background: Background) -> ChangedArea {
        var area = ChangedArea(label: label)
        var (sumX, sumY, sumExcess): (Int, Int, Float) = (0, 0, 0)
        var pendingCount = 1
        pending.values[0] = Int32(first)
        labels.values[first] = label
        while pendingCount > 0 {
            pendingCount -= 1
            let cell = Int(pending.values[pendingCount])
            let (column, row) = (cell % layout.columns, cell / layout.columns)
            area.count += 1
            if formerLabels.values[cell] == 0 { area.gained += 1 }
            if background.isLively(cell) { area.lively += 1 }
            (sumX, sumY) = (sumX + column, sumY + row)
            sumExcess += abs(background.difference.values[cell]) / background.threshold.values[cell]
            (area.left, area.right) = (min(area.left, column), max(area.right, column))
            (area.top, area.bottom) = (min(area.top, row), max(area.bottom, row))
            for y in max(0, row - Self.gap)...min(layout.rows - 1, row + Self.gap) {
                for x in max(0, column - Self.gap)...min(layout.columns - 1, column + Self.gap) {
                    let next = y * layout.columns + x
                    guard background.isChanged.values[next], labels.values[next] == 0 else { continue }
                    labels.values[next] = label
                    pending.values[pendingCount] = Int32(next)
                    pendingCount += 1
                }
            }
        }
        area.center = SIMD2(Float(sumX), Float(sumY)) / Float(area.count)
        area.excess = sumExcess / Float(area.count)
        return area
    }
}

// MARK: From picture to picture

/// A changed area, followed from picture to picture. Only a traveling area is motion: noise does not last,
/// and light does not travel. A traveling thing leaves its former place; an area that only grows, shrinks,
/// splits or joins another does not.
struct Traveler {
    /// When it was first seen, or began to move again after a rest.
    private(set) var start: Instant
    /// When it was last seen.
    private(set) var latest: Instant
    /// When it was last seen at a new place.
    private(set) var latestMove: Instant
    /// The number of pictures in which it was seen.
    private var sightings = 1
    /// Its latest appearance.
    private(set) var area: ChangedArea
    /// Its largest appearance, and the time of that appearance.
    private(set) var largest: ChangedArea
    private(set) var largestTime: Instant
    /// The greatest `ChangedArea.excess`.
    private(set) var excess: Float
    /// Whether it traveled in one direction, rather than back and forth.
    private(set) var hasTraveled = false

    /// The number of steps that it took.
    private var steps = 0
    private let origin: SIMD2<Float>
    private var place: SIMD2<Float>
    private var path: Float = 0
    /// The cells that it covered and released since it was at `place`.
    private var (gained, released) = (0, 0)
    /// In cells per second.
    private var velocity = SIMD2<Float>(0, 0)

    /// Smaller moves of the center are noise at an area's edge. In cells.
    private static let step: Float = 0.75
    /// A thing that rested for longer begins a new movement.
    private static let rest = Duration.seconds(2)
    /// The least distance of a traveling thing from its origin, as a part of its path.
    private static let leastStraightness: Float = 0.6
    /// The least exchange of cells, relative to that of a square: its side times its way.
    private static let leastExchange: Float = 0.4
    private static let (fewestSightings, fewestSteps) = (4, 3)

    init(_ area: ChangedArea, at time: Instant) {
        (start, latest, latestMove, largestTime) = (time, time, time, time)
        (self.area, largest) = (area, area)
        (origin, place) = (area.center, area.center)
        excess = area.excess
    }

    /// The distance of an area from the expected place, in cells.
    func distance(to area: ChangedArea, at time: Instant) -> Float {
        let expected = self.area.center + velocity * Float((time - latest).inSeconds)
        return length(area.center - expected)
    }

    private mutating func rest(at center: SIMD2<Float>) {
        place = center
        (gained, released) = (0, 0)
    }

    /// Records its new place.
    /// - Parameter released: the number of cells of its former area that no longer differ.
    mutating func follow(_ area: ChangedArea, released: Int, at time: Instant) {
        let seconds = Float(max(0.001, (time - latest).inSeconds))
        velocity = (velocity + (area.center - self.area.center) / seconds) / 2
        (self.area, latest) = (area, time)
        sightings += 1
        excess = max(excess, area.excess)
        if area.count > largest.count { (largest, largestTime) = (area, time) }
        // A still thing has not moved, even if its edges seem to.
        guard area.isLively else { return rest(at: area.center) }
        let way = length(area.center - place)
        (gained, self.released) = (gained + area.gained, self.released + released)
        guard way >= Self.step else { return }
        path += way
        place = area.center
        let exchanged = Float(min(gained, self.released))
        (gained, self.released) = (0, 0)
        let side = Float(area.count).squareRoot()
        guard exchanged >= Self.leastExchange * side * min(way, side) else { return }
        if time - latestMove > Self.rest { start = time }
        latestMove = time
        steps += 1
        if sightings >= Self.fewestSightings, steps >= Self.fewestSteps,
            length(place - origin) >= Self.leastStraightness * path
        {
            hasTraveled = true
        }
    }
}

private func length(_ vector: SIMD2<Float>) -> Float { (vector * vector).sum().squareRoot() }
