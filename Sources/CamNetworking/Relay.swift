import Glibc
import Synchronization
import CamPlatform

/// A thread that passes a stream on between a socket and what is none: a TLS session, or a library's protocol.
///
/// It ends once the socket's other end is closed and everything is sent, and closes its own end then.
public final class Relay: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held, or is atomic.
    private let monitor = Monitor()
    private var reason: Failure?
    private let confirmed = Atomic<Int>(0)
    /// Whether what the peer has not confirmed when it fails has not arrived; otherwise it may have.
    public let unconfirmedIsLost: Bool

    /// How a peer fails.
    public enum Failure: Error, Sendable, Equatable {
        /// It closed the connection.
        case closed
        case broken(errno: Int32)
        /// It accepted no data for this long.
        case silent(for: Duration)
        /// In a library's own words.
        case failed(detail: String)
    }

    /// Passes on what comes from the socket, until its other end is closed or the work is interrupted.
    public typealias Work = @Sendable (borrowing Socket, Relay) throws(Failure) -> Void

    private init(unconfirmedIsLost: Bool) { self.unconfirmedIsLost = unconfirmedIsLost }

    /// Starts the thread.
    /// - Parameter unconfirmedIsLost: whether what the peer has not confirmed when it fails has not arrived.
    /// - Returns: the relay, and the socket for the stream.
    public static func start(
        unconfirmedIsLost: Bool = true, _ work: @escaping Work
    ) throws(NetworkError) -> Started {
        try Socket.Pair().split { (near, far) throws(NetworkError) in
            let relay = Relay(unconfirmedIsLost: unconfirmedIsLost)
            let far = FarEnd(far)
            guard let thread = WorkerThread(body: { relay.run(far, work) }) else {
                throw NetworkError(.noResources(errno: EAGAIN), address: "relay")
            }
            thread.detach()
            return Started(socket: near, relay: relay)
        }
    }

    /// A relay with the near end of its socket.
    public struct Started: ~Copyable {
        fileprivate let socket: Socket
        public let relay: Relay

        /// Returns the socket for the stream.
        public consuming func takeSocket() -> Socket { socket }
    }

    private func run(_ end: FarEnd, _ work: Work) {
        end.use { socket in
            do throws(Failure) { try work(socket, self) } catch {
                // Before the socket closes: who sees that asks for the reason.
                monitor.withLock { reason = error }
            }
        }
    }

    /// Why the peer failed; nil if it did not.
    public var failure: Failure? { monitor.withLock { reason } }

    /// How many bytes from the socket the peer has got, as far as is known.
    public var confirmedByteCount: Int { confirmed.load(ordering: .relaxed) }

    /// Notes how many bytes the peer has got. For the relay's work.
    public func noteConfirmed(_ count: Int) { confirmed.store(count, ordering: .relaxed) }
}

/// The relay's own end of its socket, which closes once everything is passed on.
private final class FarEnd: @unchecked Sendable {
    // Safe to share: one thread at a time uses it.
    private var socket: Socket?

    init(_ socket: consuming Socket) { self.socket = consume socket }

    func use(_ body: (borrowing Socket) -> Void) {
        guard let socket = socket.take() else { return }
        body(socket)
    }
}
