import Bitstream
import Decoder

/// Finds the keyframe from which a raw stream has to be decoded to be played from a time on, without decoding it.
struct KeyframeSearch {
    /// Access units ahead of the keyframe.
    private(set) var unitCount = 0
    /// Where the clock is ahead of the keyframe.
    private(set) var place: PictureClock.Place
    /// Whether the time was reached.
    private(set) var isOver = false

    private let time: Int64
    private let clock: PictureClock
    private var seen = 0
    private var rate: NominalFrameRate?

    /// Begins at the stream's first picture.
    /// - Parameter time: in nanoseconds at the stream's own speed.
    init(upTo time: Int64, _ clock: PictureClock) throws(PlayError) {
        (self.time, self.clock) = (time, clock)
        place = PictureClock.Place()
        try clock.go(to: place)
    }

    /// Takes note of the next access unit.
    mutating func note(_ unit: borrowing ReceivedAccessUnit) throws(PlayError) {
        guard unit.hasPicture, !isOver else { return }
        let before = clock.place
        if unit.role.allowsEntry { rate = unit.format?.frameRate }
        _ = try clock.next(rate: clock.frameRate ?? rate)
        isOver = clock.place.time > time
        if unit.isEntryPoint || unit.role.recoveryPoint?.count == 0, !isOver {
            (unitCount, place) = (seen, before)
        }
        seen += 1
    }
}
