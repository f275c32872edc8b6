import Glibc

/// Where receivers connect: a host and a port, or a UNIX socket whose permissions determine who may.
public enum ListeningAddress: Sendable, Hashable, CustomStringConvertible {
    case tcp(SocketAddress)
    case path(String, mode: mode_t)

    private static let scheme = "unix:"

    /// Reads `[HOST:]PORT`, `HOST`, `unix:PATH` and `unix:PATH,mode=660`. Nil if it is none of these.
    public init?(_ text: String) {
        let rest = text.dropFirst(Self.scheme.count)
        guard text.hasPrefix(Self.scheme), !rest.allSatisfy(\.isNumber) || rest.isEmpty else {
            guard let address = SocketAddress(text) else { return nil }
            self = .tcp(address)
            return
        }
        guard let file = SocketFile(String(rest)) else { return nil }
        self = .path(file.path, mode: file.mode)
    }

    /// Why a text is not a UNIX socket, with what to write; nil for a text that was not meant as one.
    public static func complaint(about text: String) -> String? {
        guard text.hasPrefix(scheme), ListeningAddress(text) == nil else { return nil }
        return SocketFile.complaint(about: text.dropFirst(scheme.count), scheme: scheme)
    }

    /// Whether only this machine's programs can connect, judging by the address itself.
    public var isLoopback: Bool {
        switch self {
        case .tcp(let address): address.isLoopback
        case .path: true
        }
    }

    public var description: String {
        switch self {
        case .tcp(let address): address.description
        case .path(let path, _): Self.scheme + path
        }
    }
}
