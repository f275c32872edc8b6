import Threading

/// Everybody who took a live output's stream. Written by the output's thread, read by any.
///
/// Of those that are gone it keeps the latest: however many come and go, memory is bounded.
final class ReceiverLedger: @unchecked Sendable {
    // Safe to share: everything mutable is touched with the monitor's lock held.
    private let monitor = Monitor()
    private var entries: [(id: Int, statistics: ReceiverStatistics)] = []
    private var count = 0
    private var refused = 0
    private let mostDeparted: Int

    /// - Parameter mostDeparted: how many of those that are gone are kept.
    init(mostDeparted: Int = 256) { self.mostDeparted = mostDeparted }

    /// How many there were in all, how many were refused besides, and those that are known still, in the order
    /// in which they came.
    var content: (count: Int, refused: Int, receivers: [ReceiverStatistics]) {
        monitor.withLock { (count, refused, entries.map(\.statistics)) }
    }

    /// Counts somebody for whom there was no place.
    func refuse() { monitor.withLock { refused += 1 } }

    /// Adds a receiver.
    /// - Returns: what `update` calls it.
    func add(_ statistics: ReceiverStatistics) -> Int {
        monitor.withLock {
            count += 1
            entries.append((count, statistics))
            return count
        }
    }

    /// Replaces what is known of a receiver.
    func update(_ id: Int, _ statistics: ReceiverStatistics) {
        monitor.withLock {
            guard let index = entries.lastIndex(where: { $0.id == id }) else { return }
            entries[index].statistics = statistics
            guard statistics.departure != nil else { return }
            let departed = entries.count { $0.statistics.departure != nil }
            guard departed > mostDeparted,
                let oldest = entries.firstIndex(where: { $0.statistics.departure != nil })
            else { return }
            entries.remove(at: oldest)
        }
    }
}
