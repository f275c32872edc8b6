import CTLS
import Glibc
import CamPlatform

/// An encrypted connection to a server that has proven who it is (RFC 8446, RFC 5246; not what is older, RFC 8996). Never blocks once it is open.
final class TLSSession: @unchecked Sendable {
    // Safe to share: one thread at a time uses it, first the one that opens it, then a relay's.
    private let trust: TLSTrust
    private let session: gnutls_session_t
    /// The session keeps pointers to both, not copies.
    private let host: UnsafeMutablePointer<CChar>
    private let identity: UnsafeMutablePointer<ctls_identity>
    private let socket: Socket

    /// For polling.
    var descriptor: Int32 { socket.descriptor }

    /// Negotiates over a connection, and verifies the server. Until then it is told nothing but the host's name.
    /// - Parameters:
    ///   - host: the name or the IP address that the server's certificate must have.
    ///   - timeout: how long that may take.
    ///   - address: the server's, for errors.
    init(
        over socket: consuming Socket, host: String, trust: TLSTrust, timeout: Duration,
        interruption: Interruption,
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
        // An IP address is none of the names that a server may have (RFC 6066, 3).
        if !SocketAddress(host: host, port: 0).isNumeric {
            _ = library.set_server_name(session, GNUTLS_NAME_DNS, host, host.utf8.count)
        }
        ctls_verify_server(&library, session, identity, copy)
        library.set_descriptors(session, self.socket.descriptor, self.socket.descriptor)
        try negotiate(until: .now + timeout, timeout, interruption, address)
    }

    deinit {
        trust.library.deinit(session)
        identity.deallocate()
        free(host)
    }

    private func negotiate(
        until deadline: Instant, _ timeout: Duration, _ interruption: Interruption, _ address: String
    ) throws(NetworkError) {
        while true {
            let result = trust.library.handshake(session)
            if result >= 0 { return }
            guard result == GNUTLS_E_AGAIN || trust.library.is_fatal(result) == 0 else {
                throw failure(result, address)
            }
            // Also where the server never stops sending.
            guard Instant.now < deadline else {
                throw NetworkError(.timedOut(after: timeout), address: address)
            }
            guard result == GNUTLS_E_AGAIN else { continue }
            let events = trust.library.direction(session) == 0 ? POLLIN : POLLOUT
            if interruption.wait(for: descriptor, events, until: deadline) == .interrupted {
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

    /// Sends as many of the bytes as there is room for. If there is none, the same bytes must be sent the next time.
    func send(_ bytes: UnsafeRawBufferPointer) -> Socket.Sending {
        withUnsafePointer(to: trust.library) {
            Socket.Sending(ctls_send($0, session, bytes.baseAddress, bytes.count))
        }
    }

    /// Reads what has arrived.
    func receive(into room: UnsafeMutableRawBufferPointer) -> Socket.Receiving {
        withUnsafePointer(to: trust.library) {
            Socket.Receiving(ctls_receive($0, session, room.baseAddress, room.count))
        }
    }

    /// Tells the server that no more comes. What was sent still arrives.
    func end() {
        _ = trust.library.bye(session, GNUTLS_SHUT_WR)
        socket.shutDownWriting()
        socket.discardReceived()
    }

    /// Bytes that the server's system has not acknowledged yet.
    var unconfirmedByteCount: Int { socket.unconfirmedByteCount }

    /// Prepares the connection for a live stream.
    func prepareForStreaming(patience: Duration) { socket.prepareForStreaming(patience: patience) }
}
