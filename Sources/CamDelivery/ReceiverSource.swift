import CamNetworking
import CamPlatform
import Glibc

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
    case noneWaiting
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
        case .noneWaiting: .noneWaiting
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
        case .noneWaiting: .noneWaiting
        case .exhausted(let code): .exhausted(errno: code)
        }
    }

    func receiverLeft() {}
    func stop() {}
}

// MARK: - Connecting

/// Connects to an output's only receiver, and reconnects with pauses that grow from a quarter of a second to eight
/// seconds until a connection has lasted for a second.
///
/// Names are resolved and connections awaited on a separate thread, so that neither blocks other work.
final class DialingSource: ReceiverSource, @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let peer: String
    private let connect: Connecting
    private let monitor = Monitor()
    private let wakeUp: EventFD
    private let cancellation: CancellationFlag
    private var state = State.wanted
    private var arrived: Connection?
    private var failure: NetworkError?
    private var thread: WorkerThread?

    private enum State { case wanted, connected, stopped }

    /// Makes one attempt to connect, on the source's thread, until the cancellation is raised.
    typealias Connecting = @Sendable (CancellationFlag) throws(NetworkError) -> Connection

    /// The longest time for an attempt to connect.
    static let attemptTimeout = Duration.seconds(5)
    private static let longestPause = Duration.seconds(8)

    /// Starts connecting.
    /// - Parameter peer: the receiver's name in messages.
    init(_ peer: String, connect: @escaping Connecting) throws(NetworkError) {
        (self.peer, self.connect) = (peer, connect)
        wakeUp = try EventFD()
        guard let cancellation = CancellationFlag() else {
            throw NetworkError(.noResources(errno: EMFILE), address: peer)
        }
        self.cancellation = cancellation
        thread = WorkerThread { [self] in run() }
        guard thread != nil else { throw NetworkError(.noResources(errno: EAGAIN), address: peer) }
    }

    /// Connects to a receiver of raw Annex B.
    convenience init(_ address: SocketAddress) throws(NetworkError) {
        try self.init("\(address)") { (cancellation) throws(NetworkError) in
            Connection(
                socket: try Socket.connect(
                    to: address, timeout: Self.attemptTimeout, cancellation: cancellation), peer: "\(address)"
            )
        }
    }

    var descriptor: Int32 { wakeUp.descriptor }

    func next() -> Arrival {
        wakeUp.sleep()
        return monitor.withLock {
            if let connection = arrived.take() { return .receiver(connection) }
            if let error = failure.take() { return .unreachable(error) }
            return .noneWaiting
        }
    }

    func receiverLeft() {
        monitor.withLock {
            guard state == .connected else { return }
            state = .wanted
            monitor.signal()
        }
    }

    func stop() {
        monitor.withLock {
            state = .stopped
            monitor.signal()
        }
        cancellation.raise()
        // Name resolution may take too long to wait for; the thread ends after it.
        if let thread = thread.take() { thread.detach() }
    }

    private func run() {
        var backOff = BackOff(longest: Self.longestPause)
        while waitUntilWanted() {
            do throws(NetworkError) {
                let connection = try connect(cancellation)
                let start = Instant.now
                guard deliver(connection) else { return }
                guard waitUntilWanted() else { return }
                backOff.noteSuccess(lasting: .now - start)
            } catch {
                report(error)
            }
            guard waits(until: .now + backOff.next()) else { return }
        }
    }

    /// - Returns: false if the output has ended.
    private func waitUntilWanted() -> Bool {
        monitor.withLock {
            while state == .connected { monitor.wait() }
            return state == .wanted
        }
    }

    private func waits(until deadline: Instant) -> Bool {
        monitor.withLock {
            while state == .wanted, Instant.now < deadline { monitor.wait(until: deadline) }
            return state == .wanted
        }
    }

    private func deliver(_ connection: consuming Connection) -> Bool {
        var connection: Connection? = connection
        let isWanted = monitor.withLock {
            guard state == .wanted else { return false }
            state = .connected
            arrived = connection.take()
            return true
        }
        wakeUp.wake()
        return isWanted
    }

    private func report(_ error: NetworkError) {
        monitor.withLock { failure = error }
        wakeUp.wake()
    }
}

extension Connection {
    /// Connects over one of libavformat's protocols.
    init(
        to url: StreamURL, passphrase: String?, timeout: Duration, _ cancellation: CancellationFlag
    ) throws(NetworkError) {
        let peer = try ProtocolConnection(
            to: url, passphrase: passphrase, attemptTimeout: DialingSource.attemptTimeout, timeout: timeout,
            cancellation: cancellation)
        let started = try Relay.start(unconfirmedIsLost: url.transport == .udp) {
            (socket, relay) throws(Relay.Failure) in
            try peer.forward(from: socket, relay)
        }
        let relay = started.relay
        self.init(socket: started.takeSocket(), peer: "\(url)", relay: relay)
    }

    /// Waits for a stream's first keyframe, and announces the stream to a server.
    init(
        publishing announcement: StreamAnnouncement, to address: RTSPAddress, password: String?,
        trust: TLSTrust?,
        patience: Duration, _ cancellation: CancellationFlag
    ) throws(NetworkError) {
        guard let description = announcement.wait(unless: cancellation) else {
            throw NetworkError(.interrupted, address: "\(address)")
        }
        let publication = try RTSPPublication(
            to: address, description: description.text, controls: description.controls,
            password: password, trust: trust, timeout: DialingSource.attemptTimeout, patience: patience,
            cancellation: cancellation)
        let (farewell, relay) = (publication.farewell, publication.relay)
        self.init(
            socket: publication.takeSocket(), peer: "\(address)", farewell: farewell, relay: relay)
    }
}
