import CamPlatform
import Glibc

/// A listening UNIX socket in the file system, whose name is removed with it.
///
/// Use it in one thread at a time.
public struct PathListener: ~Copyable, Sendable {
    /// Accepts the connections.
    public let listener: Listener
    /// The socket's path.
    public let path: String
    private let identity: (device: dev_t, inode: ino_t)

    /// Creates the socket. A stale one of an ended program is replaced; anything else is not, and other
    /// users' links are not followed.
    /// - Parameter mode: who may connect, which requires write permission; by default only the owner's
    ///   programs.
    public init(path: String, mode: mode_t = 0o600) throws(NetworkError) {
        try self.init(path: path, mode: mode, changeMode: { chmod($0, $1) })
    }

    /// - Parameter changeMode: chmod(2).
    init(
        path: String, mode: mode_t, changeMode: (String, mode_t) -> Int32
    ) throws(NetworkError) {
        let address = try Self.address(path)
        let location = try Self.location(of: path)
        try Self.makeRoom(at: location, path: path)
        let socket = try Socket(family: AF_UNIX)
        // Linux creates the name with the socket's mode at the time of binding, less the umask: it never has
        // more permissions.
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
        // Removes only its own socket, not something that has replaced it.
        guard let location = try? Self.location(of: path), let found = location.status.map(Self.identity),
            found == identity
        else { return }
        location.unlink()
    }

    /// Rejects a path that no socket can have, without accessing the file system.
    public static func refuseUnusable(_ path: String) throws(NetworkError) { _ = try address(path) }

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

    /// Sets it through a descriptor of the socket itself, so that a link that replaces it meanwhile is not
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
        if status.st_mode & 0o777 != mode, change("/proc/self/fd/\(descriptor)", mode) != 0 {
            let code = errno
            // Without a listener nothing would remove it later.
            location.unlink()
            throw NetworkError(.notMade(errno: code), address: path)
        }
        return identity(status)
    }

    private static func identity(_ status: stat) -> (device: dev_t, inode: ino_t) {
        (status.st_dev, status.st_ino)
    }
}
