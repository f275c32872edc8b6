import Glibc

/// Why a socket could not be created or connected. `description` is one line: thing, cause, next step.
public struct NetworkError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The cause.
    public enum Kind: Sendable, Equatable {
        /// The name service does not know the host; with its answer.
        case unknownHost(String)
        /// The name service is not available.
        case noNameService(String)
        case notListening(errno: Int32)
        case notConnected(errno: Int32)
        /// The peer did not answer in time.
        case timedOut(after: Duration)
        /// The cancellation was raised.
        case interrupted
        /// A UNIX socket could not be created.
        case notMade(errno: Int32)
        /// The path of a UNIX socket is empty or too long.
        case badPath
        /// The path exists, and is not a socket or has a listener.
        case pathTaken(isListening: Bool)
        /// The path leads through this link of another user, in a folder that others can write to.
        case untrustedLink(String)
        /// The system allows no more descriptors.
        case noResources(errno: Int32)
        /// libavformat, or its support of a protocol, is missing.
        case noProtocol(reason: String)
        /// The passphrase is missing, or SRT does not accept it.
        case badPassphrase
        /// libavformat could not connect, in its words; `isEncrypted` is nil if the protocol has no
        /// encryption.
        case protocolFailed(detail: String, isEncrypted: Bool?)
        /// GnuTLS is missing, or has no memory.
        case noTLS(reason: String)
        /// The file of certificates cannot be read.
        case certificatesNotRead(errno: Int32)
        /// There are no certificates to trust in the given file or in the system.
        case noCertificates(inFile: Bool)
        /// The certificate does not prove the identity of the server.
        case untrusted(CertificateFlaw)
        /// Negotiating TLS failed, in the words of GnuTLS.
        case notNegotiated(detail: String)
        /// The server does not speak RTSP.
        case notRTSP
        /// The server does not accept packets on the RTSP connection.
        case otherTransport
        /// The server accepts the stream but opens no session.
        case noSession
        /// The server closed the connection before it accepted the stream.
        case closedByServer
        /// The server rejects the stream, in its words.
        case refused(status: Int, reason: String)
        /// The server asks for a user and a password.
        case needsPassword
        /// The server does not accept the user or the password.
        case wrongPassword
    }

    /// The cause.
    public let kind: Kind
    /// The address or path.
    package let address: String

    /// Creates the error of an address or path.
    package init(_ kind: Kind, address: String) {
        self.kind = kind
        self.address = address
    }

    public var description: String {
        switch kind {
        case .unknownHost(let reason): "\(address): no such host: \(reason); check the name"
        case .noNameService(let reason): "\(address): \(reason); check the network"
        case .notListening(EADDRINUSE):
            "cannot listen on \(address): another program uses this port; stop it ('ss -ltnp' names it) or "
                + "use another port"
        case .notListening(EADDRNOTAVAIL):
            "cannot listen on \(address): this machine has no such address; use 0.0.0.0 for all of its addresses"
        case .notListening(EACCES):
            "cannot listen on \(address): no permission; use a port above 1023"
        case .notListening(let code):
            "cannot listen on \(address): \(Self.words(code)); check the address"
        case .notConnected(ECONNREFUSED):
            "\(address): connection refused; start the other end first"
        case .notConnected(let code):
            "cannot connect to \(address): \(Self.words(code)); check the address and the receiver"
        case .timedOut(let time):
            "cannot connect to \(address): no answer for \(time.components.seconds) s; check the address and the firewall"
        case .interrupted: "\(address): interrupted"
        case .notMade(ENOENT), .notMade(ENOTDIR):
            "cannot create the socket \(address): no such folder; create it first"
        case .notMade(EACCES), .notMade(EROFS):
            "cannot create the socket \(address): no permission; use a folder of your own"
        case .notMade(let code):
            "cannot create the socket \(address): \(Self.words(code)); use another path"
        case .untrustedLink(let link):
            "cannot create the socket \(address): '\(link)' is another user's link in a folder that others can write to; give the "
                + "path that it leads to"
        case .badPath where address.isEmpty: "the socket's path is empty; give one"
        case .badPath:
            "\(address): too long: a socket path has at most 107 bytes; use a shorter one"
        case .pathTaken(let isListening):
            isListening
                ? "cannot create the socket \(address): a program already listens there; use another path"
                : "cannot create the socket \(address): it exists and is not a socket; use another path"
        case .noProtocol(let reason): "\(address): \(reason); install FFmpeg's libavformat with it"
        case .badPassphrase:
            "\(address): a passphrase has 10 to 79 bytes; put it in CAMREC_PASSWORD, or leave passphrase= out to send "
                + "unencrypted"
        case .protocolFailed(let detail, let isEncrypted):
            "cannot connect to \(address): \(detail); check the address and the receiver\(isEncrypted.map { $0 ? ", which must have the same passphrase" : ", and whether it wants a passphrase" } ?? "")"
        case .noTLS(let reason): "\(address): cannot encrypt: \(reason); install GnuTLS (libgnutls30)"
        case .certificatesNotRead(let code):
            "cannot read \(address): \(Self.words(code)); check --ca-file"
        case .noCertificates(true):
            "\(address): not a file of certificates in PEM, up to 4 MiB; check --ca-file"
        case .noCertificates(false):
            "the system has no certificates to trust; install ca-certificates, or give a file with --ca-file"
        case .untrusted(let flaw):
            "\(address): the server's certificate \(flaw.rawValue); \(flaw.advice)"
        case .notNegotiated(let detail):
            "\(address): no encrypted connection: \(detail); check the port, and that the server offers TLS there"
        case .otherTransport:
            "\(address): the server does not take packets over its RTSP connection; allow TCP in its settings"
        case .noSession: "\(address): the server opened no session for the stream; check its log"
        case .notRTSP: "\(address): the server does not speak RTSP; check the port"
        case .closedByServer: "\(address): the server closed the connection; check its log"
        case .refused(404, _):
            "\(address): the server has no place for this stream; check the path, and the server's log"
        // The answer of MediaMTX to a path that is not in its settings.
        case .refused(400, let reason):
            "\(address): the server refuses the stream: \(Self.status(400, reason)); check the path, and the server's log"
        case .refused(let status, let reason):
            "\(address): the server refuses the stream: \(Self.status(status, reason)); check its settings and its log"
        case .needsPassword:
            "\(address): the server asks for a password; give the user as rtsp://USER@HOST/PATH, and the password in "
                + "CAMREC_PASSWORD"
        case .wrongPassword: "\(address): the server rejects the user or the password; check both"
        case .noResources(let code): "cannot create a socket: \(Self.words(code)); raise 'ulimit -n'"
        }
    }

    private static func status(_ number: Int, _ reason: String) -> String {
        reason.isEmpty ? "\(number)" : "\(number) \(reason)"
    }

    /// The description without the name prefix, for messages that begin with `name`.
    package func description(after name: String) -> String {
        description.hasPrefix("\(name): ") ? String(description.dropFirst(name.count + 2)) : description
    }

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}
