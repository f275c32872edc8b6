import CamPictures
import CamPlatform

/// A connected area of changed cells.
struct ChangedArea {
    /// Its number in the picture, from 1; the last one is that of all that follow.
    let label: UInt8
    /// Cells.
    var count = 0
    /// Of these, the ones that had not changed in the picture before.
    var gained = 0
    /// Those that go on changing.
    var lively = 0
    /// The mean place of its cells, in cells.
    var center = SIMD2<Float>(0, 0)
    /// The columns and rows of its first and last cells.
    var left = Int.max
    var top = Int.max
    var right = Int.min
    var bottom = Int.min
    /// How far its cells are from what is expected, as a multiple of the threshold: at least 1.
    var excess: Float = 0

    /// Whether something goes on in it.
    var isLively: Bool { lively >= max(2, count / 6) }

    /// The longer side of its box, in cells.
    var side: Float { Float(max(right - left, bottom - top) + 1) }
}

/// Finds the connected areas of changed cells; gaps of a cell connect.
final class ChangedAreas {
    private let layout: LumaThumbnail.Layout
    /// The labels of the cells' areas, 0 for unchanged cells: in this picture and in the one before.
    private let labels: CellPlane<UInt8>
    private let formerLabels: CellPlane<UInt8>
    /// For each label of the picture before, how many of its cells are as usual again.
    private let releases: CellPlane<Int32>
    /// For each label, whether something goes on in its area.
    private let livelinesses: CellPlane<Bool>
    private let pending: CellPlane<Int32>
    /// The largest, the largest first.
    private(set) var largest: [ChangedArea] = []

    /// More things than this need not be told apart.
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

    /// Forgets the pictures before.
    func restart() { labels.fill(0) }

    /// Whether something goes on in a cell's area.
    func isLively(_ cell: Int) -> Bool { livelinesses.values[Int(labels.values[cell])] }

    /// How many cells of an area of the picture before are as usual again.
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

/// A changed area from picture to picture. Only one that travels is motion: noise does not last, and light stays where
/// it is. What travels leaves the place where it was: an area that only grows, shrinks, splits or joins another does not.
struct Traveler {
    /// When it was first seen, or began to move again after a rest.
    private(set) var start: Instant
    /// When it was last seen.
    private(set) var latest: Instant
    /// When it was last seen at another place than before.
    private(set) var latestMove: Instant
    /// How often it was seen.
    private var sightings = 1
    /// Its last appearance.
    private(set) var area: ChangedArea
    /// Its largest appearance, and when that was.
    private(set) var largest: ChangedArea
    private(set) var largestTime: Instant
    /// The greatest `ChangedArea.excess`.
    private(set) var excess: Float
    /// Whether it went somewhere, rather than to and fro.
    private(set) var hasTraveled = false

    /// How often it was a step further.
    private var steps = 0
    private let origin: SIMD2<Float>
    private var place: SIMD2<Float>
    private var path: Float = 0
    /// Cells that it took and left since it was at `place`.
    private var (gained, released) = (0, 0)
    /// Cells a second.
    private var velocity = SIMD2<Float>(0, 0)

    /// Smaller moves of the middle are noise at an area's edge. In cells.
    private static let step: Float = 0.75
    /// Something that did not move for longer begins to move again.
    private static let rest = Duration.seconds(2)
    /// What travels is at least so far from where it began, as a part of the way that it took.
    private static let leastStraightness: Float = 0.6
    /// A square exchanges its side times the way that it moves along one.
    private static let leastExchange: Float = 0.4
    private static let (fewestSightings, fewestSteps) = (4, 3)

    init(_ area: ChangedArea, at time: Instant) {
        (start, latest, latestMove, largestTime) = (time, time, time, time)
        (self.area, largest) = (area, area)
        (origin, place) = (area.center, area.center)
        excess = area.excess
    }

    /// How far an area is from where it should be now, in cells.
    func distance(to area: ChangedArea, at time: Instant) -> Float {
        let expected = self.area.center + velocity * Float((time - latest).inSeconds)
        return length(area.center - expected)
    }

    private mutating func rest(at center: SIMD2<Float>) {
        place = center
        (gained, released) = (0, 0)
    }

    /// Notes where it is.
    /// - Parameter released: cells of its former area that are as usual again.
    mutating func follow(_ area: ChangedArea, released: Int, at time: Instant) {
        let seconds = Float(max(0.001, (time - latest).inSeconds))
        velocity = (velocity + (area.center - self.area.center) / seconds) / 2
        (self.area, latest) = (area, time)
        sightings += 1
        excess = max(excess, area.excess)
        if area.count > largest.count { (largest, largestTime) = (area, time) }
        // What is still is where it was, however its edges are seen.
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
