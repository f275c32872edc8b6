import CLinux
import CamPlatform
import Glibc

/// A connected stream socket, which closes with its owner. Never blocks, and never raises SIGPIPE.
///
/// Use it in one thread at a time.
package struct Socket: ~Copyable, Sendable {
    /// For polling; the owner closes it.
    package let descriptor: Int32

    /// Takes ownership of a connected descriptor, which the socket closes.
    package init(adopting descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// Takes ownership of a non-blocking descriptor.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Returns a second owner of the connection; nil if the system has no descriptors left.
    package func duplicate() -> Socket? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy < 0 ? nil : Socket(descriptor: copy)
    }

    /// Two sockets connected to each other.
    package struct Pair: ~Copyable {
        private let first: Socket
        private let second: Socket

        /// Creates the sockets.
        package init() throws(NetworkError) {
            var ends: (Int32, Int32) = (-1, -1)
            let result = withUnsafeMutablePointer(to: &ends) {
                $0.withMemoryRebound(to: Int32.self, capacity: 2) { network_pair($0) }
            }
            guard result >= 0 else { throw NetworkError(.noResources(errno: -result), address: "socketpair") }
            first = Socket(descriptor: ends.0)
            second = Socket(descriptor: ends.1)
        }

        /// Passes both sockets on.
        package consuming func split<Result: ~Copyable, Failure: Error>(
            _ body: (consuming Socket, consuming Socket) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try body(first, second)
        }
    }

    /// The result of sending.
    package enum Sending: Sendable, Equatable {
        /// The system accepted this many bytes, at least one.
        case sent(Int)
        /// The system has no room for more bytes now.
        case full
        /// The system has no memory now, and will not report when it has.
        case exhausted
        case broken(errno: Int32)
    }

    /// The result of receiving.
    package enum Receiving: Sendable, Equatable {
        /// This many bytes, at least one.
        case received(Int)
        case nothing
        /// The peer has stopped sending.
        case ended
        case broken(errno: Int32)
    }

    /// Sends as many of the bytes as the system accepts. Precondition: at least one byte.
    package func send(_ bytes: UnsafeRawBufferPointer) -> Sending {
        Sending(network_send(descriptor, bytes.baseAddress, bytes.count))
    }

    /// Reads available bytes into the buffer. Precondition: room for at least one byte.
    package func receive(into room: UnsafeMutableRawBufferPointer) -> Receiving {
        Receiving(network_receive(descriptor, room.baseAddress, room.count))
    }

    /// Discards the bytes available now. Closing a connection with unread bytes resets it, and sent bytes are
    /// lost (RFC 1122, 4.2.2.13).
    /// - Returns: errno if the connection is broken, which the system reports only once.
    @discardableResult
    package func discardReceived() -> Int32? {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { room in
            for _ in 0..<64 {
                switch receive(into: room) {
                case .received: continue
                case .nothing, .ended: return nil
                case .broken(let code): return code
                }
            }
            return nil
        }
    }

    /// Ends the stream to the peer. Sent bytes still arrive.
    package func shutDownWriting() { _ = network_shut_down_writing(descriptor) }

    /// The error of a broken connection, as errno; nil if it is not broken.
    package func takeError() -> Int32? {
        let code = network_pending_error(descriptor)
        return code == 0 ? nil : code
    }

    /// Bytes sent that the peer's system has not acknowledged yet, even after the connection is broken; 0 if
    /// unknown.
    package var unconfirmedByteCount: Int { max(0, Int(network_unconfirmed(descriptor))) }

    /// Prepares a TCP connection for a live stream; no effect on other sockets.
    ///
    /// `TCP_NODELAY`: a picture is sent immediately. `TCP_NOTSENT_LOWAT`: the system buffers at most 128 KiB
    /// of unsent data; otherwise it would hide megabytes, and so seconds, from the sender (tcp(7)).
    /// `TCP_USER_TIMEOUT`: a connection to a dead machine ends, but not before the sender gives up a peer
    /// that reads nothing. Keepalive does the same while nothing is sent. The timeout, not the number of
    /// probes, decides (tcp(7)); several probes fit into it, so losing one does no harm.
    /// - Parameter patience: the time after which the sender gives up a peer that reads nothing, in whole
    ///   seconds.
    package func prepareForStreaming(patience: Duration) {
        let seconds = Int32(clamping: max(1, patience.components.seconds))
        set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, 128 << 10)
        set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Int32(clamping: (Int(seconds) + 1) * 1000))
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, max(1, seconds / 2))
        set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, max(1, seconds / 5))
    }

    private func set(_ level: Int32, _ name: Int32, _ value: Int32) {
        _ = network_set_option(descriptor, level, name, value)
    }
}

extension Socket.Sending {
    /// - Parameter result: the byte count, or -errno.
    init(_ result: Int) {
        switch Int32(clamping: -result) {
        case _ where result >= 0: self = .sent(result)
        case EAGAIN: self = .full
        case ENOBUFS, ENOMEM: self = .exhausted
        case let code: self = .broken(errno: code)
        }
    }
}

extension Socket.Receiving {
    /// - Parameter result: the byte count, or -errno.
    init(_ result: Int) {
        switch Int32(clamping: -result) {
        case _ where result > 0: self = .received(result)
        case 0: self = .ended
        case EAGAIN: self = .nothing
        case let code: self = .broken(errno: code)
        }
    }
}

// MARK: Connecting

extension Socket {
    /// Connects, trying each of the host's addresses in turn.
    /// - Parameters:
    ///   - timeout: for all addresses together, not including the name service.
    ///   - cancellation: ends the wait, also for the name service.
    package static func connect(
        to address: SocketAddress, timeout: Duration, cancellation: CancellationFlag? = nil
    ) throws(NetworkError) -> Socket {
        let addresses =
            if let cancellation {
                try NameLookup.addresses(of: address, cancellation: cancellation)
            } else {
                try ResolvedAddress.addresses(of: address, isListening: false)
            }
        let deadline = Instant.now + timeout
        var failure = NetworkError(.notConnected(errno: EHOSTUNREACH), address: "\(address)")
        for resolved in addresses {
            do throws(NetworkError) {
                return try connect(
                    to: resolved, name: "\(address)", deadline: deadline, timeout: timeout,
                    cancellation: cancellation)
            } catch {
                failure = error
                if case .interrupted = error.kind { throw error }
            }
        }
        throw failure
    }

    /// Connects to a UNIX socket.
    package static func connect(path: String) throws(NetworkError) -> Socket {
        guard let address = ResolvedAddress(path: path) else { throw NetworkError(.badPath, address: path) }
        let second = Duration.seconds(1)
        return try connect(
            to: address, name: path, deadline: .now + second, timeout: second,
            cancellation: nil)
    }

    private static func connect(
        to address: ResolvedAddress, name: String, deadline: Instant, timeout: Duration,
        cancellation: CancellationFlag?
    ) throws(NetworkError) -> Socket {
        let socket = try Socket(family: address.family)
        let result = address.withSocketAddress { network_connect(socket.descriptor, $0, $1) }
        if result == 0 { return socket }
        // EAGAIN: a UNIX socket's backlog is full.
        guard result == -EINPROGRESS else { throw NetworkError(.notConnected(errno: -result), address: name) }
        switch WaitResult.wait(for: socket.descriptor, POLLOUT, unless: cancellation, until: deadline) {
        case .interrupted: throw NetworkError(.interrupted, address: name)
        case .due: throw NetworkError(.timedOut(after: timeout), address: name)
        case .ready, .otherReady: break
        }
        if let code = socket.takeError() { throw NetworkError(.notConnected(errno: code), address: name) }
        return socket
    }

    /// Creates a socket that is not connected yet.
    init(family: Int32) throws(NetworkError) {
        let result = network_socket(family)
        guard result >= 0 else { throw NetworkError(.noResources(errno: -result), address: "") }
        self.init(descriptor: result)
    }

    /// Waits until data can be read, or the stream has ended.
    /// - Parameter deadline: nil waits forever.
    /// - Returns: false if the deadline passed first.
    package func waitUntilReadable(until deadline: Instant? = nil) -> Bool {
        WaitResult.wait(for: descriptor, unless: nil, until: deadline) == .ready
    }
}

// MARK: Datagrams

/// The UNIX datagram socket of another process, which receives whole messages. Safe in any thread.
package struct DatagramAddress: Sendable {
    private let address: ResolvedAddress

    /// - Parameter text: an absolute path, or `@` and a name in the abstract namespace (unix(7)). Nil for
    ///   anything else.
    package init?(_ text: String) {
        let resolved =
            text.hasPrefix("@")
            ? ResolvedAddress(abstractName: String(text.dropFirst()))
            : text.hasPrefix("/") ? ResolvedAddress(path: text) : nil
        guard let resolved else { return nil }
        address = resolved
    }

    /// Sends a message, or drops it if it cannot be delivered.
    /// - Parameter patience: how long to wait for room in a full queue.
    package func send(_ message: String, patience: Duration) {
        let descriptor = network_datagram_socket(AF_UNIX)
        guard descriptor >= 0 else { return }
        let socket = Socket(descriptor: descriptor)
        // The other process may have recreated its socket since the last message.
        guard address.withSocketAddress({ network_connect(socket.descriptor, $0, $1) }) == 0 else { return }
        var message = message
        message.withUTF8 { bytes in
            guard socket.send(UnsafeRawBufferPointer(bytes)) == .full else { return }
            _ = WaitResult.wait(for: socket.descriptor, POLLOUT, unless: nil, until: .now + patience)
            _ = socket.send(UnsafeRawBufferPointer(bytes))
        }
    }
}
