import Decoder
import CamPlatform

/// Decoded pictures that wait to be shown, each for its moment, oldest first.
struct WaitingPictures: ~Copyable {
    private var slots = InlineArray<16, Slot> { _ in Slot() }
    private var first = 0
    private(set) var count = 0

    /// The most pictures that wait, because they are large; beyond it the oldest is due at once. The window then has the
    /// time of the remaining slots to take it.
    static let most = 12

    private struct Slot: ~Copyable {
        var picture: DecodedPicture?
        var moment = Instant.start
    }

    /// When the next one is due; nil if none waits.
    var next: Instant? { count > 0 ? slots[first].moment : nil }

    /// Adds a picture. If it is already due it replaces those that wait; if there is no room it replaces the oldest.
    /// - Parameters:
    ///   - picture: nil afterwards.
    ///   - moment: when it is due; never before those that wait.
    /// - Returns: how many were dropped.
    mutating func append(_ picture: inout DecodedPicture?, at moment: Instant, now: Instant) -> Int {
        let moment = count > 0 ? max(moment, slots[place(count - 1)].moment) : moment
        var dropped = 0
        while count > 0, moment <= now || count == slots.count {
            removeFirst()
            dropped += 1
        }
        swap(&slots[place(count)].picture, &picture)
        slots[place(count)].moment = moment
        count += 1
        if count > Self.most { slots[first].moment = min(slots[first].moment, now) }
        return dropped
    }

    /// Takes the latest picture that is due.
    /// - Returns: how many before it were dropped.
    mutating func take(into picture: inout DecodedPicture?, now: Instant) -> Int {
        var taken = 0
        while let next, next <= now {
            swap(&slots[first].picture, &picture)
            removeFirst()
            taken += 1
        }
        return max(0, taken - 1)
    }

    /// Drops the pictures that are due later.
    /// - Returns: how many.
    mutating func removeAll(after now: Instant) -> Int {
        let before = count
        while count > 0, slots[place(count - 1)].moment > now {
            slots[place(count - 1)].picture = nil
            count -= 1
        }
        return before - count
    }

    /// Drops every picture.
    /// - Returns: how many.
    mutating func removeAll() -> Int {
        let before = count
        while count > 0 { removeFirst() }
        return before
    }

    private mutating func removeFirst() {
        slots[first].picture = nil
        first = place(1)
        count -= 1
    }

    private func place(_ index: Int) -> Int { (first + index) % slots.count }
}
