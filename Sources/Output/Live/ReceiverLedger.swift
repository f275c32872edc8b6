import Network
import Threading

/// All receivers of a live output's stream. Written by the output's thread, read by any.
///
/// Of receivers that have left it keeps the latest, so that memory stays bounded however many come and go.
public final class ReceiverLedger: @unchecked Sendable {
    // Safe to share: everything mutable is touched with the monitor's lock held.
    private let monitor = Monitor()
    private var entries: [(id: Int, statistics: ReceiverStatistics)] = []
    private var count = 0
    private var refused = 0
    private var departed = 0
    private var sum = Taken()
    private var failure: NetworkError?
    private let mostDeparted: Int

    /// Whether the output connects out: then what no receiver took counts as lost.
    public let mustBeTaken: Bool

    /// What receivers took in all, including those that are no longer known.
    public struct Taken: Sendable {
        public var bytes = 0
        /// Whole access units.
        public var units = 0
        /// Of the units: IDRs.
        public var keyframes = 0
    }

    /// - Parameter mostDeparted: how many receivers that have left are kept.
    init(mustBeTaken: Bool, mostDeparted: Int = 256) {
        self.mustBeTaken = mustBeTaken
        self.mostDeparted = mostDeparted
    }

    /// How many receivers were served in all, how many more were refused because the output was full, and those
    /// still known, in the order in which they came.
    public var content: (count: Int, refused: Int, receivers: [ReceiverStatistics]) {
        monitor.withLock { (count, refused, entries.map(\.statistics)) }
    }

    /// What was taken until now.
    public var taken: Taken { monitor.withLock { sum } }

    /// Why nobody could be had the last time; nil if that never was so.
    var latestFailure: NetworkError? { monitor.withLock { failure } }

    /// Counts someone for whom there was no place.
    func refuse() { monitor.withLock { refused += 1 } }

    /// Nobody could be had.
    func note(_ error: NetworkError) { monitor.withLock { failure = error } }

    /// Adds a receiver.
    /// - Returns: what `update` calls it.
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
            sum.bytes += statistics.bytes - former.bytes
            sum.units += statistics.units - former.units
            sum.keyframes += statistics.keyframes - former.keyframes
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

    /// Entries are in the order of their numbers.
    private func index(of id: Int) -> Int? {
        var range = 0..<entries.count
        while range.count > 1 {
            let middle = range.lowerBound + range.count / 2
            range = entries[middle].id > id ? range.lowerBound..<middle : middle..<range.upperBound
        }
        return range.first.flatMap { entries[$0].id == id ? $0 : nil }
    }
}
