import CLinux
import Glibc
import CamPlatform

extension Socket {
    /// Connects, trying each of the host's addresses in turn.
    /// - Parameters:
    ///   - timeout: for all of them together, not including the name service.
    ///   - interruption: ends the wait, including that for the name service.
    public static func connect(
        to address: SocketAddress, timeout: Duration, interruption: Interruption? = nil
    ) throws(NetworkError) -> Socket {
        let addresses =
            if let interruption {
                try NameLookup.addresses(of: address, interruption: interruption)
            } else {
                try ResolvedAddress.addresses(of: address, isListening: false)
            }
        let deadline = Instant.now + timeout
        var failure = NetworkError(.notConnected(errno: EHOSTUNREACH), address: "\(address)")
        for resolved in addresses {
            do throws(NetworkError) {
                return try connect(
                    to: resolved, name: "\(address)", deadline: deadline, timeout: timeout,
                    interruption: interruption)
            } catch {
                failure = error
                if case .interrupted = error.kind { throw error }
            }
        }
        throw failure
    }

    /// Connects to a UNIX socket.
    public static func connect(path: String) throws(NetworkError) -> Socket {
        guard let address = ResolvedAddress(path: path) else { throw NetworkError(.badPath, address: path) }
        let second = Duration.seconds(1)
        return try connect(
            to: address, name: path, deadline: .now + second, timeout: second,
            interruption: nil)
    }

    private static func connect(
        to address: ResolvedAddress, name: String, deadline: Instant, timeout: Duration,
        interruption: Interruption?
    ) throws(NetworkError) -> Socket {
        let socket = try Socket(family: address.family)
        let result = address.withSocketAddress { network_connect(socket.descriptor, $0, $1) }
        if result == 0 { return socket }
        // EAGAIN: a UNIX socket's backlog is full.
        guard result == -EINPROGRESS else { throw NetworkError(.notConnected(errno: -result), address: name) }
        switch Wake.wait(for: socket.descriptor, POLLOUT, unless: interruption, until: deadline) {
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
    public func waitUntilReadable(until deadline: Instant? = nil) -> Bool {
        Wake.wait(for: descriptor, unless: nil, until: deadline) == .ready
    }
}
