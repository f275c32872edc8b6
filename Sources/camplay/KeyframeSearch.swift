import Bitstream
import Decoder
import CamPictures

/// Finds the keyframe at which decoding a raw stream must begin to play it from a given time, without
/// decoding it.
struct KeyframeSearch {
    /// Access units before the keyframe.
    private(set) var unitCount = 0
    /// The clock's position before the keyframe.
    private(set) var place: PictureClock.Place
    /// Whether the time was reached.
    private(set) var isOver = false

    private let time: Duration
    private let clock: PictureClock
    private var seen = 0
    private var rate: FrameRate?
    private var candidate: Candidate?

    /// A keyframe for which it is not yet known which pictures are shown before it.
    private struct Candidate {
        let unitCount: Int
        /// The clock's position before it, in output order.
        var place: PictureClock.Place
        let role: PictureRole

        /// Whether a later picture is shown before it, but is not decoded if decoding begins with it.
        func leavesOut(_ other: PictureRole) -> Bool {
            if role.isEntryPoint { return other.isSkippedLeading }
            guard let order = role.order, let otherOrder = other.order else { return false }
            return !other.isEntryPoint && otherOrder < order
        }
    }

    /// Begins at the stream's first picture.
    /// - Parameter time: at the stream's own speed.
    init(upTo time: Duration, _ clock: PictureClock) throws(PlayError) {
        (self.time, self.clock) = (time, clock)
        place = PictureClock.Place()
        try clock.go(to: place)
    }

    /// Notes the next access unit.
    mutating func note(_ unit: borrowing ReceivedAccessUnit) throws(PlayError) {
        guard unit.hasPicture, !isOver else { return }
        let before = clock.place
        if unit.role.allowsEntry { rate = unit.format?.frameRate }
        if candidate?.leavesOut(unit.role) == true { candidate?.place = before } else { settle() }
        if unit.isEntryPoint || unit.role.recoveryPoint?.count == 0, before.time <= time {
            candidate = Candidate(unitCount: seen, place: before, role: unit.role)
        }
        _ = try clock.next(rate: clock.frameRate ?? rate)
        seen += 1
        isOver = clock.place.time > time && candidate == nil
    }

    /// Ends the stream.
    mutating func finish() { settle() }

    /// Chooses the candidate if it is shown in time.
    private mutating func settle() {
        // The clock has reached the keyframe itself, in output order.
        guard let candidate = candidate.take(), clock.place.time <= time else { return }
        (unitCount, place) = (candidate.unitCount, candidate.place)
    }
}
