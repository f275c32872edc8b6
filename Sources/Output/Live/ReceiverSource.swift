import Network

/// Where a live output's receivers come from. Used by the output's thread.
protocol ReceiverSource: AnyObject {
    /// Readable when someone may be there.
    var descriptor: Int32 { get }

    /// Takes the next connection.
    func next() -> Arrival

    /// One that came is gone.
    func receiverLeft()

    /// No more are wanted.
    func stop()
}

/// What a source of receivers has.
enum Arrival: ~Copyable {
    /// `origin` is the same for connections of one address; nil if these are not limited.
    case receiver(Socket, peer: String, origin: UInt64?)
    case nobody
    /// The system has no descriptor or memory for someone who waits.
    case exhausted(errno: Int32)
    /// The receiver does not answer; the attempts continue.
    case unreachable(NetworkError)
}

/// Those that connect to a port.
final class ListeningSource: ReceiverSource {
    private let listener: Listener

    init(_ listener: consuming Listener) { self.listener = listener }

    var descriptor: Int32 { listener.descriptor }

    func next() -> Arrival {
        switch listener.accept() {
        case .connection(let socket, let peer):
            .receiver(socket, peer: peer.description, origin: peer.origin)
        case .nobody: .nobody
        case .exhausted(let code): .exhausted(errno: code)
        }
    }

    func receiverLeft() {}
    func stop() {}
}

/// Those that connect to a UNIX socket.
final class PathListeningSource: ReceiverSource {
    private let listener: PathListener

    init(_ listener: consuming PathListener) { self.listener = listener }

    var descriptor: Int32 { listener.listener.descriptor }

    func next() -> Arrival {
        switch listener.listener.accept() {
        case .connection(let socket, let peer): .receiver(socket, peer: peer.description, origin: nil)
        case .nobody: .nobody
        case .exhausted(let code): .exhausted(errno: code)
        }
    }

    func receiverLeft() {}
    func stop() {}
}
