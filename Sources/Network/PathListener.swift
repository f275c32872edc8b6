import CNetwork
import Glibc

/// A UNIX socket in the file system that listens. Its name is gone with it.
///
/// One thread at a time uses it.
public struct PathListener: ~Copyable, Sendable {
    /// Takes the connections.
    public let listener: Listener
    /// Where it is.
    public let path: String
    private let identity: (device: dev_t, inode: ino_t)

    /// Makes the socket. What a program that ended left behind is replaced; anything else is not.
    /// - Parameter mode: who may connect: who may write it; its owner's programs alone unless given.
    public init(path: String, mode: mode_t = 0o600) throws(NetworkError) {
        guard let address = ResolvedAddress(path: path) else { throw NetworkError(.badPath, address: path) }
        try Self.makeRoom(at: path)
        let socket = try Socket(family: AF_UNIX)
        // Linux gives the name the mode that the socket has when it is bound: at no time is it more.
        guard fchmod(socket.descriptor, mode) == 0 else {
            throw NetworkError(.notMade(errno: errno), address: path)
        }
        // But for what the process keeps from all its files: the mode was asked for.
        let mask = umask(~mode & 0o777)
        defer { umask(mask) }
        do throws(NetworkError) {
            listener = try Listener(binding: socket, to: address, name: path)
        } catch {
            guard case .notListening(let code) = error.kind else { throw error }
            throw NetworkError(.notMade(errno: code), address: path)
        }
        self.path = path
        identity = Self.identity(of: path) ?? (0, 0)
    }

    deinit {
        // Not what somebody else has put there meanwhile.
        if let found = Self.identity(of: path), found == identity { unlink(path) }
    }

    private static func makeRoom(at path: String) throws(NetworkError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw NetworkError(.pathTaken(isListening: false), address: path)
        }
        do throws(NetworkError) {
            _ = try Socket.connect(path: path)
        } catch {
            guard case .notConnected(ECONNREFUSED) = error.kind else {
                throw NetworkError(.pathTaken(isListening: true), address: path)
            }
            unlink(path)
            return
        }
        throw NetworkError(.pathTaken(isListening: true), address: path)
    }

    private static func identity(of path: String) -> (device: dev_t, inode: ino_t)? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return (status.st_dev, status.st_ino)
    }
}
