import Glibc

/// Statistics of one receiver of a live output.
public struct ReceiverStatistics: Sendable, Equatable {
    /// Its address.
    public let peer: String
    /// The time from the output's beginning.
    public let joined: Duration
    /// The time from the output's beginning; nil while it is connected.
    public internal(set) var left: Duration?
    /// Bytes that the system accepted for it.
    public internal(set) var bytes = 0
    /// Access units that the system accepted completely.
    public internal(set) var units = 0
    /// IDRs among them.
    public internal(set) var keyframes = 0
    /// What of these an earlier receiver of the output had got already.
    var repeated = ReceiverLedger.Taken()
    /// Bytes its system had not confirmed when it left; they may be lost if the connection broke.
    public internal(set) var unconfirmedBytes = 0
    /// Access units skipped because it was too slow.
    public internal(set) var dropped = 0
    /// The longest time from a unit's arrival until the system accepted the last of it or it was
    /// dropped, or until now if it still waits. Time in the system's buffers and on the network is extra, and so is
    /// the time to serve other receivers in the same round.
    public internal(set) var longestLag = Duration.zero
    /// Why it left; nil while it is connected.
    public internal(set) var departure: Departure?

    init(peer: String, joined: Duration) {
        self.peer = peer
        self.joined = joined
    }

    /// Why a receiver left.
    public enum Departure: Sendable, Equatable, CustomStringConvertible {
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

        public var description: String {
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
