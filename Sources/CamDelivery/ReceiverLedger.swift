import CamNetworking
import CamPlatform
import Glibc

/// The receivers of a live output. Written by the output's thread, read by any.
///
/// Keeps only the latest departed receivers, which bounds the memory.
package final class ReceiverLedger: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private var entries: [(id: Int, statistics: ReceiverStatistics)] = []
    private var count = 0
    private var refused = 0
    private var departed = 0
    private var present = 0
    private var presenceChanged: (@Sendable (Int) -> Void)?
    private var sum = Taken()
    private var mostLost = 0
    private var failure: NetworkError?
    private let mostDeparted: Int

    /// Whether the output connects to its receiver: then data that no receiver took counts as lost.
    package let mustBeTaken: Bool

    /// The totals of all receivers, including those no longer kept. What an output sends again counts once.
    package struct Taken: Sendable, Equatable {
        package var bytes = 0
        /// Whole access units.
        package var units = 0
        /// Access units that are IDRs.
        package var keyframes = 0

        /// Nothing at first.
        package init(bytes: Int = 0, units: Int = 0, keyframes: Int = 0) {
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
    package var content: (count: Int, refused: Int, receivers: [ReceiverStatistics]) {
        monitor.withLock { (count, refused, entries.map(\.statistics)) }
    }

    /// The totals so far.
    package var taken: Taken { monitor.withLock { sum } }

    /// The access units that no receiver got, nor will, if the output connects to its receiver; otherwise 0.
    package var lost: Int { monitor.withLock { mostLost } }

    /// Records that no receiver will get an access unit before this number that it has not got yet.
    /// - Parameter number: the number of access units so far.
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

    /// Calls a function with the number of connected receivers: now, and in the output's thread whenever it changes.
    /// The function must not block.
    package func whenPresenceChanges(_ call: @escaping @Sendable (Int) -> Void) {
        monitor.withLock {
            presenceChanged = call
            call(present)
        }
    }

    /// Adds a receiver.
    /// - Returns: its number, for `update`.
    func add(_ statistics: ReceiverStatistics) -> Int {
        monitor.withLock {
            count += 1
            present += 1
            presenceChanged?(present)
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
        present -= 1
        presenceChanged?(present)
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
    /// The data that a receiver was the first to get.
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

// MARK: - One receiver

/// Statistics of one receiver of a live output.
package struct ReceiverStatistics: Sendable, Equatable {
    /// The receiver's address.
    package let peer: String
    /// The time from the output's beginning.
    package let joined: Duration
    /// The time from the output's beginning; nil while it is connected.
    package internal(set) var left: Duration?
    /// Bytes that the system accepted for it.
    package internal(set) var bytes = 0
    /// Access units that the system accepted completely.
    package internal(set) var units = 0
    /// IDRs among them.
    package internal(set) var keyframes = 0
    /// The part of `bytes`, `units` and `keyframes` that an earlier receiver had already got.
    var repeated = ReceiverLedger.Taken()
    /// Bytes its system had not confirmed when it left; they may be lost if the connection broke.
    package internal(set) var unconfirmedBytes = 0
    /// Access units skipped because it was too slow.
    package internal(set) var dropped = 0
    /// The longest time from a unit's arrival until the system accepted the last of it or it was
    /// dropped, or until now if it still waits. Time in the system's buffers and on the network is extra, and so is
    /// the time to serve other receivers in the same round.
    package internal(set) var longestLag = Duration.zero
    /// Why it left; nil while it is connected.
    package internal(set) var departure: Departure?

    init(peer: String, joined: Duration) {
        self.peer = peer
        self.joined = joined
    }

    /// Why a receiver left.
    package enum Departure: Sendable, Equatable, CustomStringConvertible {
        /// It closed the connection.
        case closed
        case broken(errno: Int32)
        /// The connection broke, in a library's own words.
        case failed(detail: String)
        /// It read nothing for this long.
        case silent(for: Duration)
        /// It lagged for this long without catching up, and another needed its place.
        case tooSlow(for: Duration)
        /// The stream ended, and it got everything.
        case ended
        /// The stream ended, and it did not take the rest in time.
        case cutOff

        package var description: String {
            switch self {
            case .closed: "it closed the connection"
            case .failed(let detail): "connection lost: \(detail)"
            case .broken(let code): "connection lost: \(String(cString: strerror(code)))"
            case .silent(let time): "it stalled for \(time.components.seconds) s"
            case .tooSlow(let time):
                "it lagged for \(time.components.seconds) s, and another receiver took its place"
            case .ended: "the stream ended"
            case .cutOff: "the stream ended before it had read the rest"
            }
        }
    }
}
