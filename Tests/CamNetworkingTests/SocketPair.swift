import Glibc
import CamNetworking

/// Both ends of a connection within this process.
struct SocketPair: ~Copyable {
    let near: Socket
    let far: Socket

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw NetworkError(.noResources(errno: errno), address: "pair")
        }
        near = Socket(adopting: ends[0])
        far = Socket(adopting: ends[1])
    }
}
