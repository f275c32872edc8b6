import Bitstream
import CamSound
import CamPlatform
import Containers

/// The latest access units and their sound, kept in memory: an event's file then begins before the event.
///
/// A ring begins with an IDR, and drops whole groups of pictures. It keeps references and does not copy them.
package struct EventRing: Sendable {
    /// How much to keep.
    package struct Plan: Sendable, Hashable {
        /// The time before an event; up to a group of pictures more is kept.
        package var before: Duration
        /// The time after an event; the file then ends at the next IDR.
        package var after: Duration
        /// The most bytes in memory; less is kept if they do not suffice.
        package var byteLimit = usualByteLimit

        /// 256 MiB.
        package static let usualByteLimit = 256 << 20

        /// Keeps this much before and after an event.
        package init(before: Duration, after: Duration) {
            self.before = before
            self.after = after
        }
    }

    /// What to do with an access unit.
    package enum Verdict: Sendable, Hashable {
        /// Nothing: the ring keeps it.
        case keep
        case write
        /// End the file; the ring keeps this one.
        case endEvent
    }

    private enum State {
        case keeping
        /// An event has begun, but its file still lacks an IDR to begin with.
        case awaited
        /// Write until this capture time; nil until the first picture after the event.
        case event(end: Instant?)
    }

    private let plan: Plan
    private var items: [StreamItem] = []
    /// The bytes in memory.
    package private(set) var byteCount = 0
    private var state = State.keeping

    /// Creates an empty ring.
    package init(_ plan: Plan) { self.plan = plan }

    /// Whether there is no event: nothing is written.
    package var isWaiting: Bool { if case .keeping = state { true } else { false } }

    /// Begins an event or extends the current one.
    /// - Returns: the items to write at once, oldest first.
    package mutating func trigger() -> [StreamItem] {
        if case .event = state {
            state = .event(end: nil)
            return []
        }
        state = items.isEmpty ? .awaited : .event(end: nil)
        return takeAll()
    }

    /// Takes the next access unit.
    /// - Parameter isHeld: whether the event continues, which keeps its file open.
    package mutating func next(_ unit: AccessUnit, isHeld: Bool = false) -> Verdict {
        switch state {
        case .event(let end?) where unit.isIDR && unit.timestamp >= end && !isHeld:
            state = .keeping
            append(unit)
            return .endEvent
        case .event(let end):
            state = .event(end: end ?? unit.timestamp + plan.after)
            return .write
        case .awaited where unit.isIDR:
            state = .event(end: unit.timestamp + plan.after)
            return .write
        case .awaited, .keeping:
            append(unit)
            return .keep
        }
    }

    /// Takes a packet of sound.
    /// - Returns: whether to write the packet; if not, the ring keeps it, provided that it has pictures.
    package mutating func next(_ packet: SoundPacket) -> Bool {
        if case .event = state { return true }
        if !items.isEmpty { add(.sound(packet)) }
        return false
    }

    /// How long the pictures in memory last; nil while an event is written.
    package var heldTime: Duration? {
        if case .event = state { return nil }
        guard let first = items.first?.picture, let last = items.last(where: { $0.picture != nil })?.picture
        else { return .zero }
        return last.timestamp - first.timestamp
    }

    /// Drops all items, because another stream follows.
    package mutating func clear() { _ = takeAll() }

    private mutating func takeAll() -> [StreamItem] {
        byteCount = 0
        defer { items = [] }
        return items
    }

    private mutating func append(_ unit: AccessUnit) {
        guard unit.isIDR || !items.isEmpty else { return }
        add(.picture(unit))
        while let (place, next) = secondIDR,
            byteCount > plan.byteLimit || unit.timestamp - next.timestamp >= plan.before
        {
            removeFirst(place)
        }
        if byteCount > plan.byteLimit { removeFirst(items.count) }
    }

    private mutating func add(_ item: StreamItem) {
        items.append(item)
        byteCount += Self.size(of: item)
    }

    /// Where the second group of pictures begins.
    private var secondIDR: (place: Int, unit: AccessUnit)? {
        for place in items.indices.dropFirst() {
            if let unit = items[place].picture, unit.isIDR { return (place, unit) }
        }
        return nil
    }

    private mutating func removeFirst(_ count: Int) {
        byteCount -= items[..<count].reduce(0) { $0 + Self.size(of: $1) }
        items.removeFirst(count)
    }

    /// An item's memory: its bytes plus overhead, which is larger than a picture in which nothing moves.
    private static func size(of item: StreamItem) -> Int { item.count + 512 }
}
