import CLinux
import Glibc

/// A listening stream socket, which closes with its owner. Never blocks.
///
/// Use it in one thread at a time.
public struct Listener: ~Copyable, Sendable {
    /// Readable when someone connects; the owner closes it.
    public var descriptor: Int32 { socket.descriptor }
    /// Where it listens, with the port that the system chose if none was given.
    public let address: ResolvedAddress

    private let socket: Socket
    /// Connections that the system keeps until they are accepted.
    static let backlog: Int32 = 128

    /// Listens on the first of the host's addresses that is available. IPv6's unspecified address, `[::]`,
    /// also accepts IPv4.
    public init(_ address: SocketAddress) throws(NetworkError) {
        var failure = NetworkError(.notListening(errno: EADDRNOTAVAIL), address: "\(address)")
        for resolved in try ResolvedAddress.addresses(of: address, isListening: true) {
            do throws(NetworkError) {
                try self.init(resolved, name: "\(address)")
                return
            } catch { failure = error }
        }
        throw failure
    }

    private init(_ address: ResolvedAddress, name: String) throws(NetworkError) {
        let socket = try Socket(family: address.family)
        // Makes a port available whose last connections have just ended.
        _ = network_set_option(socket.descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if address.family == AF_INET6 {
            _ = network_set_option(socket.descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0)
        }
        try self.init(binding: socket, to: address, name: name)
    }

    init(
        binding socket: consuming Socket, to address: ResolvedAddress, name: String
    ) throws(NetworkError) {
        let descriptor = socket.descriptor
        var result = address.withSocketAddress { network_bind(descriptor, $0, $1) }
        if result == 0 { result = network_listen(descriptor, Self.backlog) }
        guard result == 0 else { throw NetworkError(.notListening(errno: -result), address: name) }
        self.socket = socket
        self.address = ResolvedAddress { _ = network_name(descriptor, $0, $1) }
    }

    /// The result of accepting.
    public enum Acceptance: ~Copyable, Sendable {
        case connection(Socket, peer: ResolvedAddress)
        /// Nobody is waiting.
        case nobody
        /// A client waits, but the system has no descriptor or memory for it now.
        case exhausted(errno: Int32)
    }

    /// Accepts the next connection.
    public func accept() -> Acceptance {
        var failure: Int32 = 0
        for _ in 0..<Self.backlog {
            var result: Int32 = -1
            let peer = ResolvedAddress { result = network_accept(descriptor, $0, $1) }
            if result >= 0 { return .connection(Socket(descriptor: result), peer: peer) }
            switch -result {
            case EAGAIN: return .nobody
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted(errno: -result)
            // A connection that broke before it was accepted reports its error here (accept(2)).
            default: failure = -result
            }
        }
        // Not the connections' fault: for example, a security module forbids them.
        return .exhausted(errno: failure)
    }
}
