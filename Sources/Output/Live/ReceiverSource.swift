import CamNetworking

/// The source of a live output's receivers. Used by the output's thread.
protocol ReceiverSource: AnyObject {
    /// Readable when a connection may be available.
    var descriptor: Int32 { get }

    /// Returns the next connection, if any.
    func next() -> Arrival

    /// Notes that a receiver has left.
    func receiverLeft()

    /// Stops looking for receivers.
    func stop()
}

/// The result of asking a source for a receiver.
enum Arrival: ~Copyable {
    case receiver(Connection)
    case nobody
    /// The system has no descriptor or memory for a waiting receiver.
    case exhausted(errno: Int32)
    /// The receiver does not answer; the attempts continue.
    case unreachable(NetworkError)
}

/// A connection over which a stream can be sent.
struct Connection: ~Copyable {
    let socket: Socket
    /// The receiver's name.
    let peer: String
    /// Identifies the peer's address; nil if connections per address are not limited.
    var origin: UInt64?
    /// Sent after the stream's end.
    var farewell: [UInt8] = []
    /// Passes the stream on; nil if the socket is the peer's.
    var relay: Relay?
}

/// Receivers that connect to a port.
final class ListeningSource: ReceiverSource {
    private let listener: Listener

    init(_ listener: consuming Listener) { self.listener = listener }

    var descriptor: Int32 { listener.descriptor }

    func next() -> Arrival {
        switch listener.accept() {
        case .connection(let socket, let peer):
            .receiver(Connection(socket: socket, peer: peer.description, origin: peer.origin))
        case .nobody: .nobody
        case .exhausted(let code): .exhausted(errno: code)
        }
    }

    func receiverLeft() {}
    func stop() {}
}

/// Receivers that connect to a UNIX socket.
final class PathListeningSource: ReceiverSource {
    private let listener: PathListener

    init(_ listener: consuming PathListener) { self.listener = listener }

    var descriptor: Int32 { listener.listener.descriptor }

    func next() -> Arrival {
        switch listener.listener.accept() {
        case .connection(let socket, let peer):
            .receiver(Connection(socket: socket, peer: peer.description))
        case .nobody: .nobody
        case .exhausted(let code): .exhausted(errno: code)
        }
    }

    func receiverLeft() {}
    func stop() {}
}
