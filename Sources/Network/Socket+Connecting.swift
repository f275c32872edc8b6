import CNetwork
import Glibc
import Threading

extension Socket {
    /// Connects, trying each of the host's addresses in turn.
    /// - Parameters:
    ///   - timeout: nanoseconds for all of them together; the name service takes its own time before.
    ///   - interruption: a descriptor that ends the wait when it is readable, that for the name service, too.
    public static func connect(
        to address: SocketAddress, timeout: Int64, interruption: Int32? = nil
    ) throws(NetworkError) -> Socket {
        let addresses =
            if let interruption {
                try NameLookup.addresses(of: address, interruption: interruption)
            } else {
                try ResolvedAddress.addresses(of: address, isListening: false)
            }
        let deadline = MonotonicTime.now() + timeout
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
        let second: Int64 = 1_000_000_000
        return try connect(
            to: address, name: path, deadline: MonotonicTime.now() + second, timeout: second,
            interruption: nil)
    }

    private static func connect(
        to address: ResolvedAddress, name: String, deadline: Int64, timeout: Int64, interruption: Int32?
    ) throws(NetworkError) -> Socket {
        let socket = try Socket(family: address.family)
        let result = address.withSocketAddress { network_connect(socket.descriptor, $0, $1) }
        if result == 0 { return socket }
        // EAGAIN: a UNIX socket's backlog is full.
        guard result == -EINPROGRESS else { throw NetworkError(.notConnected(errno: -result), address: name) }
        var descriptors = (
            pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: interruption ?? -1, events: Int16(POLLIN), revents: 0)
        )
        let ready = withUnsafeMutablePointer(to: &descriptors) {
            $0.withMemoryRebound(to: pollfd.self, capacity: 2) {
                network_poll($0, 2, max(0, deadline - MonotonicTime.now()))
            }
        }
        if descriptors.1.revents != 0 { throw NetworkError(.interrupted, address: name) }
        guard ready > 0 else {
            throw NetworkError(.timedOut(seconds: Int(timeout / 1_000_000_000)), address: name)
        }
        if let code = socket.takeError() { throw NetworkError(.notConnected(errno: code), address: name) }
        return socket
    }

    /// Not connected yet.
    init(family: Int32) throws(NetworkError) {
        let result = network_socket(family)
        guard result >= 0 else { throw NetworkError(.noResources(errno: -result), address: "") }
        self.init(descriptor: result)
    }

    /// Waits until something can be read, or the stream has ended.
    /// - Parameters:
    ///   - deadline: monotonic nanoseconds; nil waits for ever.
    ///   - interruption: a descriptor that ends the wait when it is readable.
    /// - Returns: false where the deadline or the interruption came first.
    public func waitUntilReadable(until deadline: Int64? = nil, interruption: Int32? = nil) -> Bool {
        var descriptors = (
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: interruption ?? -1, events: Int16(POLLIN), revents: 0)
        )
        _ = withUnsafeMutablePointer(to: &descriptors) {
            $0.withMemoryRebound(to: pollfd.self, capacity: 2) {
                network_poll($0, 2, deadline.map { max(0, $0 - MonotonicTime.now()) } ?? -1)
            }
        }
        return descriptors.1.revents == 0 && descriptors.0.revents != 0
    }
}
