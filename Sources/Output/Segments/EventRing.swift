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
        public var byteLimit = usualByteLimit

        /// 256 MiB.
        public static let usualByteLimit = 256 << 20

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
        case write
        /// The file is to end; the ring has this one.
        case endEvent
    }

    private enum State {
        case keeping
        /// Something happened, and no file could begin with what there was.
        case awaited
        /// Until a picture's time of capture; nil until there is a picture behind what happened.
        case event(end: Int64?)
    }

    private let plan: Plan
    private var units: [AccessUnit] = []
    private var byteCount = 0
    private var state = State.keeping

    /// An empty ring.
    public init(_ plan: Plan) { self.plan = plan }

    /// Something happened. An event that goes on already is prolonged.
    /// - Returns: what is to be written at once, the oldest first.
    public mutating func trigger() -> [AccessUnit] {
        if case .event = state {
            state = .event(end: nil)
            return []
        }
        state = units.isEmpty ? .awaited : .event(end: nil)
        return takeAll()
    }

    /// Takes the next access unit.
    public mutating func next(_ unit: AccessUnit) -> Verdict {
        switch state {
        case .event(let end?) where unit.isIDR && unit.timestamp >= end:
            state = .keeping
            append(unit)
            return .endEvent
        case .event(let end):
            state = .event(end: end ?? unit.timestamp &+ plan.after)
            return .write
        case .awaited where unit.isIDR:
            state = .event(end: unit.timestamp &+ plan.after)
            return .write
        case .awaited, .keeping:
            append(unit)
            return .keep
        }
    }

    /// Gives up what is kept: what comes is of another stream.
    public mutating func clear() { _ = takeAll() }

    private mutating func takeAll() -> [AccessUnit] {
        byteCount = 0
        defer { units = [] }
        return units
    }

    private mutating func append(_ unit: AccessUnit) {
        guard unit.isIDR || !units.isEmpty else { return }
        units.append(unit)
        byteCount += Self.size(of: unit)
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
        byteCount -= units[..<count].reduce(0) { $0 + Self.size(of: $1) }
        units.removeFirst(count)
    }

    /// With what is kept of it beside its bytes, which is more than those of a picture in which nothing moves.
    private static func size(of unit: AccessUnit) -> Int { unit.count + 512 }
}
