import CTLS
import CamPlatform
import Glibc

/// An encrypted connection to a server with a verified identity, by TLS 1.2 or 1.3 (RFC 5246, RFC 8446; older
/// versions are deprecated, RFC 8996). Never blocks once it is open.
final class TLSSession: @unchecked Sendable {
    // Safe to share: one thread at a time uses it, first the thread that opens it, then that of a relay.
    private let trust: TLSTrust
    private let session: gnutls_session_t
    /// The GnuTLS session keeps pointers to `host` and `identity`, not copies.
    private let host: UnsafeMutablePointer<CChar>
    private let identity: UnsafeMutablePointer<ctls_identity>
    private let socket: Socket

    /// For polling.
    var descriptor: Int32 { socket.descriptor }

    /// Negotiates over a connection and verifies the server. Until then the server learns only the host name.
    /// - Parameters:
    ///   - host: the name or IP address that the certificate of the server must have.
    ///   - timeout: how long the negotiation may take.
    ///   - address: the address of the server, for errors.
    init(
        over socket: consuming Socket, host: String, trust: TLSTrust, timeout: Duration,
        cancellation: CancellationFlag,
        address: String
    ) throws(NetworkError) {
        var library = trust.library
        var session: gnutls_session_t?
        guard let copy = strdup(host) else {
            throw NetworkError(.noTLS(reason: "no memory for a session"), address: address)
        }
        guard ctls_init(&library, &session) >= 0, let session else {
            free(copy)
            throw NetworkError(.noTLS(reason: "no memory for a session"), address: address)
        }
        self.trust = trust
        self.session = session
        self.host = copy
        identity = .allocate(capacity: 1)
        self.socket = socket
        _ = library.append_priority(session, "-VERS-TLS1.0:-VERS-TLS1.1", nil, 0)
        _ = library.set_credentials(
            session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(trust.credentials))
        // An IP address is not allowed as a server name (RFC 6066, 3).
        if !SocketAddress(host: host, port: 0).isNumeric {
            _ = library.set_server_name(session, GNUTLS_NAME_DNS, host, host.utf8.count)
        }
        ctls_verify_server(&library, session, identity, copy)
        library.set_descriptors(session, self.socket.descriptor, self.socket.descriptor)
        try negotiate(until: .now + timeout, timeout, cancellation, address)
    }

    deinit {
        trust.library.deinit(session)
        identity.deallocate()
        free(host)
    }

    private func negotiate(
        until deadline: Instant, _ timeout: Duration, _ cancellation: CancellationFlag, _ address: String
    ) throws(NetworkError) {
        while true {
            let result = trust.library.handshake(session)
            if result >= 0 { return }
            guard result == GNUTLS_E_AGAIN || trust.library.is_fatal(result) == 0 else {
                throw failure(result, address)
            }
            // Checked also if the server never stops sending.
            guard Instant.now < deadline else {
                throw NetworkError(.timedOut(after: timeout), address: address)
            }
            guard result == GNUTLS_E_AGAIN else { continue }
            let events = trust.library.direction(session) == 0 ? POLLIN : POLLOUT
            if cancellation.wait(for: descriptor, events, until: deadline) == .interrupted {
                throw NetworkError(.interrupted, address: address)
            }
        }
    }

    private func failure(_ result: Int32, _ address: String) -> NetworkError {
        if result == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR {
            let flaw = NetworkError.CertificateFlaw(status: trust.library.verification(session))
            return NetworkError(.untrusted(flaw), address: address)
        }
        let endings = [GNUTLS_E_PREMATURE_TERMINATION, GNUTLS_E_PULL_ERROR, GNUTLS_E_PUSH_ERROR]
        if endings.contains(result) { return NetworkError(.closedByServer, address: address) }
        let words = trust.library.describe(result).map { String(cString: $0) } ?? "error \(result)"
        let detail = words.hasSuffix(".") ? String(words.dropLast()) : words
        return NetworkError(.notNegotiated(detail: detail), address: address)
    }

    /// Sends as many of the bytes as there is room for. If there is no room, the next call must pass the same
    /// bytes.
    func send(_ bytes: UnsafeRawBufferPointer) -> Socket.Sending {
        withUnsafePointer(to: trust.library) {
            Socket.Sending(ctls_send($0, session, bytes.baseAddress, bytes.count))
        }
    }

    /// Reads decrypted bytes that have arrived.
    func receive(into room: UnsafeMutableRawBufferPointer) -> Socket.Receiving {
        withUnsafePointer(to: trust.library) {
            Socket.Receiving(ctls_receive($0, session, room.baseAddress, room.count))
        }
    }

    /// Ends the stream to the server. Sent bytes still arrive.
    func end() {
        _ = trust.library.bye(session, GNUTLS_SHUT_WR)
        socket.shutDownWriting()
        socket.discardReceived()
    }

    /// Bytes sent that the system of the server has not acknowledged yet.
    var unconfirmedByteCount: Int { socket.unconfirmedByteCount }

    /// Prepares the connection for a live stream.
    func prepareForStreaming(patience: Duration) { socket.prepareForStreaming(patience: patience) }
}

// MARK: Relaying a stream

extension TLSSession {
    /// Starts a relay that passes bytes between its socket and the server, through TLS.
    /// - Parameters:
    ///   - patience: the time after which a server that reads nothing counts as gone.
    ///   - cancellation: ends the relay at once, even with unsent bytes.
    func relay(patience: Duration, cancellation: CancellationFlag) throws(NetworkError) -> Relay.Started {
        prepareForStreaming(patience: patience)
        return try Relay.start { [self] (socket, relay) throws(Relay.Failure) in
            var exchange = TLSExchange(self)
            try exchange.run(socket, relay, cancellation)
        }
    }
}

/// Moves bytes between the socket of a relay and a session.
private struct TLSExchange {
    private let session: TLSSession
    private var outbound = Parcel()
    private var inbound = Parcel()
    private var hasEnded = false
    /// Bytes that the session has accepted.
    private var sentByteCount = 0

    /// The most records to read before the other direction continues.
    private static let recordsAtOnce = 64

    init(_ session: TLSSession) { self.session = session }

    /// Bytes that were received and must be sent.
    private struct Parcel {
        /// Room for the largest TLS record.
        private var bytes = [UInt8](repeating: 0, count: 16 << 10)
        private var range = 0..<0

        var count: Int { range.count }

        mutating func discard() { range = 0..<0 }

        mutating func receive(_ body: (UnsafeMutableRawBufferPointer) -> Socket.Receiving) -> Socket.Receiving
        {
            let result = bytes.withUnsafeMutableBytes(body)
            if case .received(let count) = result { range = 0..<count }
            return result
        }

        mutating func send(_ body: (UnsafeRawBufferPointer) -> Socket.Sending) -> Socket.Sending {
            let result = bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
            if case .sent(let count) = result { range.removeFirst(count) }
            return result
        }
    }

    /// Runs until the other end of the socket is closed and everything is sent, or the cancellation is
    /// raised.
    mutating func run(
        _ socket: borrowing Socket, _ relay: Relay, _ cancellation: CancellationFlag
    ) throws(Relay.Failure) {
        repeat {
            try advance(socket, relay)
            if hasEnded { return session.end() }
        } while wait(socket, cancellation)
    }

    private mutating func advance(_ socket: borrowing Socket, _ relay: Relay) throws(Relay.Failure) {
        // The unconfirmed bytes are encrypted and so a few more, hence the `max`.
        defer { relay.noteConfirmed(max(0, sentByteCount - session.unconfirmedByteCount)) }
        try sendOutbound(from: socket)
        if !hasEnded { try sendInbound(to: socket) }
    }

    private mutating func sendOutbound(from socket: borrowing Socket) throws(Relay.Failure) {
        while true {
            if outbound.count == 0 {
                switch outbound.receive({ socket.receive(into: $0) }) {
                case .received: break
                case .nothing: return
                case .ended, .broken:
                    hasEnded = true
                    return
                }
            }
            switch outbound.send({ session.send($0) }) {
            case .sent(let count): sentByteCount += count
            case .full, .exhausted: return
            case .broken(let code): throw .broken(errno: code)
            }
        }
    }

    private mutating func sendInbound(to socket: borrowing Socket) throws(Relay.Failure) {
        for _ in 0..<Self.recordsAtOnce {
            if inbound.count == 0 {
                switch inbound.receive({ session.receive(into: $0) }) {
                case .received: break
                case .nothing: return
                case .ended: throw .closed
                case .broken(let code): throw .broken(errno: code)
                }
            }
            switch inbound.send({ socket.send($0) }) {
            case .sent: break
            case .full, .exhausted: return
            // The other end no longer reads; bytes that it wrote before must still be sent.
            case .broken: inbound.discard()
            }
        }
    }

    /// - Returns: false once the cancellation is raised.
    private func wait(_ socket: borrowing Socket, _ cancellation: CancellationFlag) -> Bool {
        // poll(2) would report a closed descriptor again and again even without events to wait for.
        func entry(_ descriptor: Int32, _ events: Int32) -> pollfd {
            pollfd(fd: events == 0 ? -1 : descriptor, events: Int16(events), revents: 0)
        }
        var descriptors = (
            entry(socket.descriptor, (outbound.count == 0 ? POLLIN : 0) | (inbound.count == 0 ? 0 : POLLOUT)),
            entry(
                session.descriptor, (outbound.count == 0 ? 0 : POLLOUT) | (inbound.count == 0 ? POLLIN : 0)),
            entry(cancellation.descriptor, POLLIN)
        )
        _ = withUnsafeMutablePointer(to: &descriptors) {
            $0.withMemoryRebound(to: pollfd.self, capacity: 3) { poll($0, 3, -1) }
        }
        return descriptors.2.revents == 0
    }
}
