import Glibc

/// Why a socket could not be made or connected. `description` is one line: thing, cause, next step.
public struct NetworkError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The cause.
    public enum Kind: Sendable, Equatable {
        /// The name service's answer.
        case unknownHost(String)
        /// The name service can't be asked now.
        case noNameService(String)
        case notListening(errno: Int32)
        case notConnected(errno: Int32)
        /// Nobody answered in time.
        case timedOut(after: Duration)
        /// Somebody raised the interruption.
        case interrupted
        /// A UNIX socket could not be made.
        case notMade(errno: Int32)
        /// The path of a UNIX socket is empty or too long.
        case badPath
        /// Something that is no socket, or a socket that somebody listens on, stands where one is to be made.
        case pathTaken(isListening: Bool)
        /// Somebody else's link, of this name, in a folder that others can write to.
        case untrustedLink(String)
        /// The system allows no more descriptors.
        case noResources(errno: Int32)
    }

    /// The cause.
    public let kind: Kind
    /// The address or path.
    public let address: String

    /// An error of an address.
    public init(_ kind: Kind, address: String) {
        self.kind = kind
        self.address = address
    }

    public var description: String {
        switch kind {
        case .unknownHost(let reason): "\(address): no such host: \(reason); check the name"
        case .noNameService(let reason): "\(address): \(reason); check the network"
        case .notListening(EADDRINUSE):
            "cannot listen on \(address): another program uses this port; end it ('ss -ltnp' names it), or "
                + "take another port"
        case .notListening(EADDRNOTAVAIL):
            "cannot listen on \(address): this machine has no such address; 0.0.0.0 means all that it has"
        case .notListening(EACCES):
            "cannot listen on \(address): no permission; take a port above 1023"
        case .notListening(let code):
            "cannot listen on \(address): \(Self.words(code)); check the address"
        case .notConnected(ECONNREFUSED):
            "\(address): connection refused; start the program at the other end first"
        case .notConnected(let code):
            "cannot connect to \(address): \(Self.words(code)); check the address and the receiver"
        case .timedOut(let time):
            "cannot connect to \(address): no answer for \(time.components.seconds) s; check the address and the firewall"
        case .interrupted: "\(address): given up"
        case .notMade(ENOENT), .notMade(ENOTDIR):
            "cannot make the socket \(address): no such folder; make it first"
        case .notMade(EACCES), .notMade(EROFS):
            "cannot make the socket \(address): no permission; take a folder of your own"
        case .notMade(let code):
            "cannot make the socket \(address): \(Self.words(code)); take another path"
        case .untrustedLink(let link):
            "cannot make \(address): '\(link)' is somebody else's link in a folder that others can write to; give the "
                + "path that it leads to"
        case .badPath where address.isEmpty: "the socket's path is empty; give one"
        case .badPath:
            "\(address): too long for a socket, whose path has 107 bytes at most; take a shorter one"
        case .pathTaken(let isListening):
            isListening
                ? "cannot make \(address): a program listens there already; take another path"
                : "cannot make \(address): something that is no socket is there; take another path"
        case .noResources(let code): "cannot make a socket: \(Self.words(code)); raise 'ulimit -n'"
        }
    }

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}
