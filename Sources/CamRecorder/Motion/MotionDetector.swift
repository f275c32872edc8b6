import CamPictures
import CamPlatform
import Glibc

/// Detects motion in small pictures.
///
/// Sensor noise, light, flicker and an automatic exposure change the picture as well. A picture is therefore
/// compared with the background in the picture's light (`Background`), and a difference counts only if it is
/// connected (`ChangedAreas`) and travels (`Traveler`).
///
/// One thread at a time may use it. It allocates nothing per picture.
package final class MotionDetector {
    /// The result of looking at a picture.
    package enum Finding: Sendable, Hashable {
        /// Nothing moves, or the background is not known yet.
        case still
        /// Something moves, or did a moment ago.
        case moving(MotionEvent)
        /// Nothing has moved for a while; the event is over.
        case ended(MotionEvent)
    }

    private let part: WatchedPart
    private let layout: LumaThumbnail.Layout
    private let sensitivity: MotionSensitivity
    private let background: Background
    private let areas: ChangedAreas
    private var travelers: [Traveler] = []
    private var event: MotionEvent?
    private var latest: Instant?
    /// When learning the background began; nil once it is known.
    private var learningSince: Instant?
    /// The changed part of the previous picture; nil if unknown.
    private var formerShare: Float?
    /// The exposure of the previous picture; nil if unknown.
    private var formerGain: Float?

    /// Learning a background takes at least this many pictures and this much time.
    private static let (fewestPictures, leastLearning) = (5, Duration.milliseconds(400))
    /// After a longer gap the background may have changed.
    private static let longestGap = Duration.seconds(10)
    /// If a larger part of the picture changes, the scene or the light has changed.
    private static let largestShare: Float = 0.3
    /// If the changed part grows by more than this from one picture to the next, the light has changed:
    /// things come in bit by bit.
    private static let largestRise: Float = 0.05
    /// If the exposure changes at the same time, by this logarithm of a gain, a smaller rise is enough.
    private static let (gainStep, riseWithGain): (Float, Float) = (0.02, 0.01)
    private static let mostTravelers = 24
    /// A thing that reappears after a longer time counts as another thing.
    private static let longestHidden = Duration.milliseconds(700)
    /// An event ends if nothing has moved for this long.
    package static let calm = Duration.seconds(2)

    /// - Parameters:
    ///   - part: the part of the picture that thumbnails show.
    ///   - black: the pictures' level of black.
    ///   - mask: the parts of the picture to ignore.
    package init(
        _ part: WatchedPart, black: Int = 16, sensitivity: MotionSensitivity = .usual,
        mask: MotionMask? = nil
    ) {
        self.part = part
        self.sensitivity = sensitivity
        layout = LumaThumbnail.Layout(of: part.size)
        let layout = layout
        background = Background(layout, black: black) {
            mask?.ignores(cell: $0, of: layout, in: part) ?? false
        }
        areas = ChangedAreas(layout)
        travelers.reserveCapacity(Self.mostTravelers)
    }

    /// Forgets the background, because the next pictures may show something else, such as after a camera was
    /// away.
    /// - Returns: the event that this ends.
    @discardableResult package func restart() -> MotionEvent? {
        latest = nil
        travelers.removeAll(keepingCapacity: true)
        return event.take()
    }

    /// Looks at the next picture.
    /// - Parameter time: when it was captured.
    package func look(at picture: LumaThumbnail, time: Instant) -> Finding {
        precondition(picture.layout == layout)
        guard let before = latest, time > before, time - before <= Self.longestGap else {
            return begin(picture, at: time)
        }
        latest = time
        if let since = learningSince {
            background.learn(picture)
            if background.pictureCount >= Self.fewestPictures, time - since >= Self.leastLearning {
                background.finishLearning()
                learningSince = nil
            }
            return finding(at: time)
        }
        background.look(at: picture)
        guard !isOtherLight else {
            learn(picture, at: time)
            return finding(at: time)
        }
        (formerShare, formerGain) = (background.changedShare, background.gain)
        areas.find(in: background)
        follow(at: time, after: before)
        background.adapt(seconds: Float((time - before).inSeconds)) { areas.isLively($0) }
        noteMotion(at: time)
        return finding(at: time)
    }

    /// Whether the scene or the light has changed.
    private var isOtherLight: Bool {
        let share = background.changedShare
        guard let formerShare, let formerGain else { return share > Self.largestShare }
        let step = abs(logf(background.gain / formerGain))
        let rise = step > Self.gainStep ? Self.riseWithGain : Self.largestRise
        return share > min(Self.largestShare, formerShare + rise)
    }

    private func begin(_ picture: LumaThumbnail, at time: Instant) -> Finding {
        let ended = restart()
        latest = time
        learn(picture, at: time)
        return ended.map(Finding.ended) ?? .still
    }

    /// Begins to learn another background.
    private func learn(_ picture: LumaThumbnail, at time: Instant) {
        travelers.removeAll(keepingCapacity: true)
        areas.restart()
        background.restart()
        background.learn(picture)
        learningSince = time
        (formerShare, formerGain) = (nil, nil)
    }

    /// Assigns each area to the nearest traveler.
    private func follow(at time: Instant, after before: Instant) {
        // At a low rate, things are seen less often.
        let longestHidden = max(Self.longestHidden, (time - before) * 5 / 2)
        travelers.removeAll { time - $0.latest > longestHidden }
        for area in areas.largest {
            let reach = area.side / 2 + Float(layout.columns) / 8
            var (nearest, least) = (Int?.none, reach)
            for index in travelers.indices where travelers[index].latest < time {
                let distance = travelers[index].distance(to: area, at: time)
                if distance < least { (nearest, least) = (index, distance) }
            }
            if let nearest {
                let isKnown = travelers[nearest].latest == before
                let released = isKnown ? areas.released(from: travelers[nearest].area) : 0
                travelers[nearest].follow(area, released: released, at: time)
            } else if travelers.count < Self.mostTravelers {
                travelers.append(Traveler(area, at: time))
            }
        }
    }

    /// Begins or continues the event.
    private func noteMotion(at time: Instant) {
        for traveler in travelers
        where traveler.hasTraveled && time - traveler.latestMove <= Self.calm
            && sensitivity.accepts(traveler, cells: layout.count)
        {
            let peak = Double(traveler.largest.count) / Double(layout.count)
            let place = place(of: traveler.largest)
            guard var current = event else {
                event = MotionEvent(
                    start: traveler.start, end: traveler.latestMove, peak: peak,
                    peakTime: traveler.largestTime,
                    place: place)
                continue
            }
            current.end = max(current.end, traveler.latestMove)
            if peak > current.peak {
                (current.peak, current.peakTime, current.place) = (peak, traveler.largestTime, place)
            }
            event = current
        }
    }

    private func finding(at time: Instant) -> Finding {
        guard let event else { return .still }
        guard time - event.end > Self.calm else { return .moving(event) }
        self.event = nil
        return .ended(event)
    }

    private func place(of area: ChangedArea) -> MotionEvent.Place {
        let (x, y) = (area.left * layout.block, area.top * layout.block)
        return MotionEvent.Place(
            x: part.x + x, y: part.y + y,
            width: min(part.size.width, (area.right + 1) * layout.block) - x,
            height: min(part.size.height, (area.bottom + 1) * layout.block) - y)
    }
}

// MARK: What counts

/// How small and how faint a moving thing may be to count as motion.
///
/// Every sensitivity follows the same things and only decides which of them count, so a higher sensitivity
/// never finds less.
package struct MotionSensitivity: Sendable, Hashable {
    /// From 1 (only large and clear things) to 10 (also small and faint ones).
    package static let levels = 1...10
    /// 5.
    package static let usual = MotionSensitivity(level: 5)

    /// The fewest cells of 14,400.
    let leastArea: Float
    /// The smallest `ChangedArea.excess`.
    let leastExcess: Float

    private init(level: Int) {
        let steps = Float(Self.levels.upperBound - level)
        leastArea = 5 + steps * steps * 0.6
        leastExcess = 1 + steps * 0.09
    }

    /// Creates a sensitivity; nil outside 1 … 10.
    package init?(_ level: Int) {
        guard Self.levels.contains(level) else { return nil }
        self.init(level: level)
    }

    /// Whether a thing is large and clear enough.
    func accepts(_ traveler: Traveler, cells: Int) -> Bool {
        let least = max(4, leastArea * Float(cells) / 14400)
        return Float(traveler.largest.count) >= least && traveler.excess >= leastExcess
    }
}

/// A movement: its start and end, and its largest extent.
package struct MotionEvent: Sendable, Hashable {
    /// A rectangle in the picture, in pixels.
    package struct Place: Sendable, Hashable {
        package let x: Int
        package let y: Int
        package let width: Int
        package let height: Int

        /// A rectangle whose top left corner is at x and y.
        package init(x: Int, y: Int, width: Int, height: Int) {
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }
    }

    /// The capture time of the first picture in which it was seen.
    package internal(set) var start: Instant
    /// The capture time of the last picture in which it moved.
    package internal(set) var end: Instant
    /// The largest part of the picture that changed, 0 … 1.
    package internal(set) var peak: Double
    /// The capture time of the picture with the largest change.
    package internal(set) var peakTime: Instant
    /// The place of the largest change.
    package internal(set) var place: Place

    /// An event.
    package init(start: Instant, end: Instant, peak: Double, peakTime: Instant, place: Place) {
        (self.start, self.end, self.peak, self.peakTime, self.place) = (start, end, peak, peakTime, place)
    }
}

/// The part of a camera's pictures that is watched.
package struct WatchedPart: Sendable, Hashable {
    /// The size of the part.
    package let size: PictureSize
    /// Columns to the left of the part.
    package let x: Int
    /// Rows above the part.
    package let y: Int
    /// The size of the camera's pictures.
    package let whole: PictureSize

    /// Watches the whole picture.
    package init(_ whole: PictureSize) { self.init(whole, x: 0, y: 0, of: whole) }

    /// A part that lies within the whole.
    package init(_ size: PictureSize, x: Int, y: Int, of whole: PictureSize) {
        (self.size, self.x, self.y, self.whole) = (size, x, y, whole)
    }
}
