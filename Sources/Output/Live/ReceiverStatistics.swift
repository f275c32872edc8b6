import Glibc

/// What is known of one receiver of a live output.
public struct ReceiverStatistics: Sendable, Equatable {
    /// Its address.
    public let peer: String
    /// Nanoseconds from the output's beginning.
    public let joined: Int64
    /// Likewise; nil while it is there.
    public internal(set) var left: Int64?
    /// Bytes that the system took for it.
    public internal(set) var bytes = 0
    /// Access units that the system took whole.
    public internal(set) var units = 0
    /// IDRs among them.
    public internal(set) var keyframes = 0
    /// Bytes that its system had not confirmed when it went: of a connection that broke they may be lost.
    public internal(set) var unconfirmedBytes = 0
    /// Access units left out because it was too slow.
    public internal(set) var dropped = 0
    /// From when a unit was handed over to when the system had taken the last of it, or it was given up, or to
    /// now while it waits, at worst; nanoseconds. Time in the system's own buffers and on the way comes on top,
    /// and so does what it took to serve the other receivers in the same round.
    public internal(set) var longestLag: Int64 = 0
    /// Why it is gone; nil while it is there.
    public internal(set) var departure: Departure?

    init(peer: String, joined: Int64) {
        self.peer = peer
        self.joined = joined
    }

    /// Why a receiver is gone.
    public enum Departure: Sendable, Equatable, CustomStringConvertible {
        /// It closed the connection.
        case closed
        case broken(errno: Int32)
        /// It read nothing for this many seconds.
        case silent(seconds: Int)
        /// It lagged for this many seconds without catching up, and another needed its place.
        case tooSlow(seconds: Int)
        /// The stream ended, and it got everything.
        case ended
        /// The stream ended, and it did not take the rest in time.
        case cutOff

        public var description: String {
            switch self {
            case .closed: "it closed the connection"
            case .broken(let code): "connection lost: \(String(cString: strerror(code)))"
            case .silent(let seconds): "it stalled for \(seconds) s"
            case .tooSlow(let seconds):
                "it lagged for \(seconds) s, and another receiver took its place"
            case .ended: "the stream ended"
            case .cutOff: "the stream ended before it had read the rest"
            }
        }
    }
}
