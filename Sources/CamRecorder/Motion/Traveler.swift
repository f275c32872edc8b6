import CamPlatform

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
