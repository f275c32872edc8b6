import Bitstream

/// The latest access units, kept in memory until something happens that is worth a file: that file then begins
/// before it happened.
///
/// A ring begins at an IDR, and loses whole groups of pictures. Its access units are referred to, not copied.
public struct EventRing: Sendable {
    /// How much is kept.
    public struct Plan: Sendable, Hashable {
        /// Nanoseconds ahead of an event, at least 1; up to a group of pictures more is kept.
        public var before: Int64
        /// Nanoseconds behind an event, at least 1; up to the next IDR.
        public var after: Int64
        /// Bytes in memory; where they do not suffice, less is kept.
        public var byteLimit = 256 << 20

        /// So many nanoseconds before and after an event.
        public init(before: Int64, after: Int64) {
            self.before = before
            self.after = after
        }
    }

    /// What is to be done with an access unit.
    public enum Verdict: Sendable, Hashable {
        /// Nothing: the ring has it.
        case keep
        /// The ring's content is to be written (`takeAll`), and then this one.
        case beginEvent
        case write
        /// The file is to end; the ring has this one.
        case endEvent
    }

    private let plan: Plan
    private var units: [AccessUnit] = []
    private var byteCount = 0
    /// When the event's file may end, by the pictures' time of capture; nil where nothing has happened.
    private var end: Int64?
    /// Something happened, and no file could begin with what there was.
    private var isAwaited = false

    /// An empty ring.
    public init(_ plan: Plan) { self.plan = plan }

    /// Takes the next access unit.
    /// - Parameter isTriggered: whether something has happened since the last one; it prolongs an event.
    public mutating func next(_ unit: AccessUnit, isTriggered: Bool) -> Verdict {
        if let end, !isTriggered, unit.isIDR, unit.timestamp >= end {
            self.end = nil
            append(unit)
            return .endEvent
        }
        if end != nil {
            if isTriggered { end = unit.timestamp &+ plan.after }
            return .write
        }
        isAwaited = isAwaited || isTriggered
        if isAwaited, unit.isIDR || !units.isEmpty {
            isAwaited = false
            end = unit.timestamp &+ plan.after
            return .beginEvent
        }
        append(unit)
        return .keep
    }

    /// Gives out everything, the oldest first.
    public mutating func takeAll() -> [AccessUnit] {
        byteCount = 0
        defer { units = [] }
        return units
    }

    private mutating func append(_ unit: AccessUnit) {
        guard unit.isIDR || !units.isEmpty else { return }
        units.append(unit)
        byteCount += unit.count
        while let next = secondIDR,
            byteCount > plan.byteLimit || unit.timestamp &- units[next].timestamp >= plan.before
        {
            removeFirst(next)
        }
        if byteCount > plan.byteLimit { removeFirst(units.count) }
    }

    /// Where the second group of pictures begins.
    private var secondIDR: Int? { units.dropFirst().firstIndex(where: \.isIDR) }

    private mutating func removeFirst(_ count: Int) {
        byteCount -= units[..<count].reduce(0) { $0 + $1.count }
        units.removeFirst(count)
    }
}
