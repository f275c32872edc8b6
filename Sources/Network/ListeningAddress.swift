import Glibc

/// Where receivers connect to: a host and a port, or a UNIX socket whose permissions say who may.
public enum ListeningAddress: Sendable, Hashable, CustomStringConvertible {
    case tcp(SocketAddress)
    case path(String, mode: mode_t)

    private static let scheme = "unix:"
    /// The owner's programs alone.
    private static let usualMode: mode_t = 0o600

    /// Reads `[HOST:]PORT`, `HOST`, `unix:PATH` and `unix:PATH,mode=660`. Nil where it is none of these.
    public init?(_ text: String) {
        let rest = text.dropFirst(Self.scheme.count)
        guard text.hasPrefix(Self.scheme), !rest.allSatisfy(\.isNumber) || rest.isEmpty else {
            guard let address = SocketAddress(text) else { return nil }
            self = .tcp(address)
            return
        }
        let parts = rest.split(separator: ",mode=", omittingEmptySubsequences: false)
        guard let path = parts.first, !path.isEmpty, parts.count <= 2 else { return nil }
        var mode = Self.usualMode
        if parts.count == 2 {
            guard let number = mode_t(parts[1], radix: 8), number & ~0o777 == 0, number & 0o200 != 0 else {
                return nil
            }
            mode = number
        }
        self = .path(String(path), mode: mode)
    }

    public var description: String {
        switch self {
        case .tcp(let address): address.description
        case .path(let path, _): Self.scheme + path
        }
    }
}
