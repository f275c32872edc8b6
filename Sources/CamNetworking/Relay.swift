import Glibc
import Synchronization
import CamPlatform

/// A thread that passes a stream between a socket and a peer without one: a TLS session, or the protocol of a
/// library.
///
/// The thread ends once the user's end of the socket is closed and everything is sent, and then closes the
/// relay's end.
package final class Relay: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held, or is atomic.
    private let monitor = Monitor()
    private var reason: Failure?
    private let confirmed = Atomic<Int>(0)
    /// Whether data that the peer has not confirmed before a failure is certainly lost; otherwise it may have
    /// arrived.
    package let unconfirmedIsLost: Bool

    /// The failure of a peer.
    package enum Failure: Error, Sendable, Equatable {
        /// The peer closed the connection.
        case closed
        case broken(errno: Int32)
        /// The peer accepted no data for this long.
        case silent(for: Duration)
        /// The failure in the words of a library.
        case failed(detail: String)
    }

    /// Passes on data from the socket until its other end is closed or the work is interrupted.
    package typealias Work = @Sendable (borrowing Socket, Relay) throws(Failure) -> Void

    private init(unconfirmedIsLost: Bool) { self.unconfirmedIsLost = unconfirmedIsLost }

    /// Starts the thread.
    /// - Parameter unconfirmedIsLost: whether data that the peer has not confirmed before a failure is
    ///   certainly lost.
    /// - Returns: the relay, and the socket for the stream.
    package static func start(
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

    /// A running relay, with the socket for the stream.
    package struct Started: ~Copyable {
        fileprivate let socket: Socket
        package let relay: Relay

        /// Returns the socket for the stream.
        package consuming func takeSocket() -> Socket { socket }
    }

    private func run(_ end: FarEnd, _ work: Work) {
        end.use { socket in
            do throws(Failure) { try work(socket, self) } catch {
                // Set before the socket closes, because the other end then reads the reason.
                monitor.withLock { reason = error }
            }
        }
    }

    /// Why the peer failed; nil if it has not failed.
    package var failure: Failure? { monitor.withLock { reason } }

    /// The number of bytes that the peer is known to have received.
    package var confirmedByteCount: Int { confirmed.load(ordering: .relaxed) }

    /// Sets the number of bytes that the peer has received. For the work of the relay.
    package func noteConfirmed(_ count: Int) { confirmed.store(count, ordering: .relaxed) }
}

/// The end of the socket that the relay uses. It closes after the work.
private final class FarEnd: @unchecked Sendable {
    // Safe to share: one thread at a time uses it.
    private var socket: Socket?

    init(_ socket: consuming Socket) { self.socket = consume socket }

    func use(_ body: (borrowing Socket) -> Void) {
        guard let socket = socket.take() else { return }
        body(socket)
    }
}
