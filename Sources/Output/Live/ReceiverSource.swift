import Network

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
    /// `origin` identifies the peer's address; nil if connections per address are not limited. `farewell` is sent after
    /// the stream's end.
    case receiver(Socket, peer: String, origin: UInt64?, farewell: [UInt8])
    case nobody
    /// The system has no descriptor or memory for a waiting receiver.
    case exhausted(errno: Int32)
    /// The receiver does not answer; the attempts continue.
    case unreachable(NetworkError)
}

/// Receivers that connect to a port.
final class ListeningSource: ReceiverSource {
    private let listener: Listener

    init(_ listener: consuming Listener) { self.listener = listener }

    var descriptor: Int32 { listener.descriptor }

    func next() -> Arrival {
        switch listener.accept() {
        case .connection(let socket, let peer):
            .receiver(socket, peer: peer.description, origin: peer.origin, farewell: [])
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
            .receiver(socket, peer: peer.description, origin: nil, farewell: [])
        case .nobody: .nobody
        case .exhausted(let code): .exhausted(errno: code)
        }
    }

    func receiverLeft() {}
    func stop() {}
}
