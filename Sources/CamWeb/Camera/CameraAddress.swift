import CamNetworking
import CamPlatform

/// Where a recorder offers its live stream (`--listen`).
public enum CameraAddress: Hashable, Sendable, CustomStringConvertible {
    case tcp(SocketAddress)
    /// A UNIX socket.
    case path(String)

    private static let scheme = "unix:"

    /// Reads `tcp://HOST:PORT` or `unix:PATH`; nil for anything else.
    public init?(_ text: String) {
        if text.hasPrefix(Self.scheme) {
            let path = String(text.dropFirst(Self.scheme.count))
            do throws(NetworkError) { try PathListener.refuseUnusable(path) } catch { return nil }
            self = .path(path)
        } else {
            guard let address = SocketAddress(url: text, scheme: "tcp"), address.port != 0 else { return nil }
            self = .tcp(address)
        }
    }

    public var description: String {
        switch self {
        case .tcp(let address): "tcp://\(address)"
        case .path(let path): Self.scheme + path
        }
    }

    /// Connects.
    func connect(timeout: Duration, interruption: Interruption) throws(NetworkError) -> Socket {
        switch self {
        case .tcp(let address):
            try Socket.connect(to: address, timeout: timeout, interruption: interruption)
        case .path(let path): try Socket.connect(path: path)
        }
    }
}
