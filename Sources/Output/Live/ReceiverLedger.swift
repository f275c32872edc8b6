import Network
import Threading

/// Everybody who took a live output's stream. Written by the output's thread, read by any.
///
/// It keeps only the latest departed ones, so memory is bounded.
final class ReceiverLedger: @unchecked Sendable {
    // Safe to share: everything mutable is touched with the monitor's lock held.
    private let monitor = Monitor()
    private var entries: [(id: Int, statistics: ReceiverStatistics)] = []
    private var count = 0
    private var refused = 0
    private var departed = 0
    private var sum = Taken()
    private var failure: NetworkError?
    private let mostDeparted: Int

    /// What receivers got in all, including those no longer listed.
    struct Taken {
        var bytes = 0
        var units = 0
        var keyframes = 0
    }

    /// - Parameter mostDeparted: how many departed receivers to keep.
    init(mostDeparted: Int = 256) { self.mostDeparted = mostDeparted }

    /// How many there were in all, how many were refused, and those still listed, in the order
    /// in which they came.
    var content: (count: Int, refused: Int, receivers: [ReceiverStatistics]) {
        monitor.withLock { (count, refused, entries.map(\.statistics)) }
    }

    /// What was taken until now.
    var taken: Taken { monitor.withLock { sum } }

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
