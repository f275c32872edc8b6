import CamNetworking
import CamPlatform

/// The receivers of a live output. Written by the output's thread, read by any.
///
/// Keeps only the latest of those that have left, so that memory stays bounded.
public final class ReceiverLedger: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private var entries: [(id: Int, statistics: ReceiverStatistics)] = []
    private var count = 0
    private var refused = 0
    private var departed = 0
    private var sum = Taken()
    private var mostLost = 0
    private var failure: NetworkError?
    private let mostDeparted: Int

    /// Whether the output connects to its receiver: then data that no receiver took counts as lost.
    public let mustBeTaken: Bool

    /// The totals of all receivers, including those no longer kept. What an output sends again counts once.
    public struct Taken: Sendable, Equatable {
        public var bytes = 0
        /// Whole access units.
        public var units = 0
        /// Access units that are IDRs.
        public var keyframes = 0

        /// Nothing at first.
        public init(bytes: Int = 0, units: Int = 0, keyframes: Int = 0) {
            (self.bytes, self.units, self.keyframes) = (bytes, units, keyframes)
        }
    }

    /// - Parameter mostDeparted: the most receivers to keep after they have left.
    init(mustBeTaken: Bool, mostDeparted: Int = 256) {
        self.mustBeTaken = mustBeTaken
        self.mostDeparted = mostDeparted
    }

    /// The number of receivers served in total, the number refused because the output was full, and those still
    /// kept, in the order in which they joined.
    public var content: (count: Int, refused: Int, receivers: [ReceiverStatistics]) {
        monitor.withLock { (count, refused, entries.map(\.statistics)) }
    }

    /// The totals so far.
    public var taken: Taken { monitor.withLock { sum } }

    /// The access units that no receiver got, nor will, if the output connects to its receiver; otherwise 0.
    public var lost: Int { monitor.withLock { mostLost } }

    /// Notes that no receiver will get any of the first access units that has not got it yet.
    /// - Parameter number: how many there are.
    func pass(to number: Int) {
        // What a receiver got may be sent again to its successor, so the difference may also shrink.
        monitor.withLock { mostLost = max(mostLost, number - sum.units) }
    }

    /// Why the latest connection attempt failed; nil if none has.
    var latestFailure: NetworkError? { monitor.withLock { failure } }

    /// Counts a receiver that was refused.
    func refuse() { monitor.withLock { refused += 1 } }

    /// Notes a failed connection attempt.
    func note(_ error: NetworkError) { monitor.withLock { failure = error } }

    /// Adds a receiver.
    /// - Returns: its number, for `update`.
    func add(_ statistics: ReceiverStatistics) -> Int {
        monitor.withLock {
            count += 1
            entries.append((count, statistics))
            return count
        }
    }

    /// Updates a receiver that has not left.
    func update(_ id: Int, _ statistics: ReceiverStatistics) {
        monitor.withLock {
            guard let index = index(of: id) else { return }
            let former = entries[index].statistics
            sum += Taken(statistics)
            sum -= Taken(former)
            entries[index].statistics = statistics
            if statistics.departure != nil { depart() }
        }
    }

    private func depart() {
        departed += 1
        guard departed > mostDeparted,
            let oldest = entries.firstIndex(where: { $0.statistics.departure != nil })
        else { return }
        entries.remove(at: oldest)
        departed -= 1
    }

    /// Finds an entry by bisection: entries are in the order of their numbers.
    private func index(of id: Int) -> Int? {
        var range = 0..<entries.count
        while range.count > 1 {
            let middle = range.lowerBound + range.count / 2
            range = entries[middle].id > id ? range.lowerBound..<middle : middle..<range.upperBound
        }
        return range.first.flatMap { entries[$0].id == id ? $0 : nil }
    }
}

extension ReceiverLedger.Taken {
    /// What one receiver was the first to get.
    fileprivate init(_ statistics: ReceiverStatistics) {
        bytes = statistics.bytes - statistics.repeated.bytes
        units = statistics.units - statistics.repeated.units
        keyframes = statistics.keyframes - statistics.repeated.keyframes
    }

    fileprivate static func += (total: inout Self, other: Self) {
        total.bytes += other.bytes
        total.units += other.units
        total.keyframes += other.keyframes
    }

    fileprivate static func -= (total: inout Self, other: Self) {
        total.bytes -= other.bytes
        total.units -= other.units
        total.keyframes -= other.keyframes
    }
}
