import CLinux
import CamPlatform
import Glibc

/// A listening stream socket, which closes with its owner. Never blocks.
///
/// Use it in one thread at a time.
package struct Listener: ~Copyable, Sendable {
    /// Readable when a client connects; the listener closes it.
    package var descriptor: Int32 { socket.descriptor }
    /// The address on which it listens, with the port that the system chose if none was given.
    package let address: ResolvedAddress

    private let socket: Socket
    /// The most connections waiting to be accepted.
    static let backlog: Int32 = 128

    /// Listens on the first of the host's addresses that is available. IPv6's unspecified address, `[::]`,
    /// also accepts IPv4.
    package init(_ address: SocketAddress) throws(NetworkError) {
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
        // Allows a port whose last connections have just ended.
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
    package enum Acceptance: ~Copyable, Sendable {
        case connection(Socket, peer: ResolvedAddress)
        /// No client is waiting.
        case noneWaiting
        /// A client waits, but the system has no descriptor or memory for the connection.
        case exhausted(errno: Int32)
    }

    /// Accepts the next connection.
    package func accept() -> Acceptance {
        var failure: Int32 = 0
        for _ in 0..<Self.backlog {
            var result: Int32 = -1
            let peer = ResolvedAddress { result = network_accept(descriptor, $0, $1) }
            if result >= 0 { return .connection(Socket(descriptor: result), peer: peer) }
            switch -result {
            case EAGAIN: return .noneWaiting
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted(errno: -result)
            // A connection that broke before it was accepted reports its error here (accept(2)).
            default: failure = -result
            }
        }
        // The connections are not at fault: a security module may forbid them, for example.
        return .exhausted(errno: failure)
    }
}

// MARK: UNIX sockets

/// A listening UNIX socket in the file system. Its name is removed when it is destroyed.
///
/// Use it in one thread at a time.
package struct PathListener: ~Copyable, Sendable {
    /// Accepts the connections.
    package let listener: Listener
    /// The socket's path.
    package let path: String
    private let identity: (device: dev_t, inode: ino_t)

    /// Creates the socket. Replaces the stale socket of an ended program, but no other file, and does not
    /// follow links of other users.
    /// - Parameter mode: the permissions of the socket, of which connecting requires write permission; by
    ///   default, only programs of the owner may connect.
    package init(path: String, mode: mode_t = 0o600) throws(NetworkError) {
        try self.init(path: path, mode: mode, changeMode: { chmod($0, $1) == 0 ? 0 : errno })
    }

    /// - Parameter changeMode: chmod(2); returns 0, or errno.
    init(
        path: String, mode: mode_t, changeMode: (String, mode_t) -> Int32
    ) throws(NetworkError) {
        let address = try Self.address(path)
        let location = try Self.location(of: path)
        try Self.makeRoom(at: location, path: path)
        let socket = try Socket(family: AF_UNIX)
        // Linux creates the name with the mode that the socket has when bound, less the umask. The name never
        // has more permissions.
        guard fchmod(socket.descriptor, mode) == 0 else {
            throw NetworkError(.notMade(errno: errno), address: path)
        }
        let listener: Listener
        do throws(NetworkError) {
            listener = try Listener(binding: socket, to: address, name: path)
        } catch {
            guard case .notListening(let code) = error.kind else { throw error }
            throw NetworkError(.notMade(errno: code), address: path)
        }
        // Sets the requested mode, whatever the process's umask.
        let identity = try Self.setMode(mode, of: location, path: path, changeMode)
        (self.path, self.identity) = (path, identity)
        self.listener = listener
    }

    deinit {
        // Does not remove a file that has replaced the socket.
        guard let location = try? Self.location(of: path), let found = location.status.map(Self.identity),
            found == identity
        else { return }
        location.unlink()
    }

    /// Rejects a path that no socket can have, without accessing the file system.
    package static func refuseUnusable(_ path: String) throws(NetworkError) { _ = try address(path) }

    private static func address(_ path: String) throws(NetworkError) -> ResolvedAddress {
        guard let address = ResolvedAddress(path: path) else { throw NetworkError(.badPath, address: path) }
        return address
    }

    private static func location(of path: String) throws(NetworkError) -> FileLocation {
        do throws(FileLocation.Failure) { return try FileLocation(path) } catch {
            throw NetworkError(
                error.link.map(NetworkError.Kind.untrustedLink) ?? .notMade(errno: error.errno), address: path
            )
        }
    }

    private static func makeRoom(at location: FileLocation, path: String) throws(NetworkError) {
        guard let status = location.status else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw NetworkError(.pathTaken(isListening: false), address: path)
        }
        do throws(NetworkError) {
            _ = try Socket.connect(path: path)
        } catch {
            guard case .notConnected(ECONNREFUSED) = error.kind else {
                throw NetworkError(.pathTaken(isListening: true), address: path)
            }
            location.unlink()
            return
        }
        throw NetworkError(.pathTaken(isListening: true), address: path)
    }

    /// Sets the mode through a descriptor of the socket, because a link that replaces the socket must not be
    /// followed.
    private static func setMode(
        _ mode: mode_t, of location: FileLocation, path: String, _ change: (String, mode_t) -> Int32
    ) throws(NetworkError) -> (device: dev_t, inode: ino_t) {
        let descriptor = location.openPath()
        defer { close(descriptor) }
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK,
            status.st_uid == geteuid()
        else { throw NetworkError(.notMade(errno: ENOENT), address: path) }
        let code = status.st_mode & 0o777 == mode ? 0 : change("/proc/self/fd/\(descriptor)", mode)
        guard code == 0 else {
            // Without a listener, nothing would remove the name later.
            location.unlink()
            throw NetworkError(.notMade(errno: code), address: path)
        }
        return identity(status)
    }

    private static func identity(_ status: stat) -> (device: dev_t, inode: ino_t) {
        (status.st_dev, status.st_ino)
    }
}
