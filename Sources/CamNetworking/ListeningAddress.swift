import Glibc

/// The address to which receivers connect: a host and a port, or a UNIX socket with permissions.
package enum ListeningAddress: Sendable, Hashable, CustomStringConvertible {
    case tcp(SocketAddress)
    case path(String, mode: mode_t)

    private static let scheme = "unix:"

    /// Reads `[HOST:]PORT`, `HOST`, `unix:PATH` and `unix:PATH,mode=660`. Nil for anything else.
    package init?(_ text: String) {
        let rest = text.dropFirst(Self.scheme.count)
        guard text.hasPrefix(Self.scheme), !rest.allSatisfy(\.isNumber) || rest.isEmpty else {
            guard let address = SocketAddress(text) else { return nil }
            self = .tcp(address)
            return
        }
        guard let file = SocketFile(String(rest)) else { return nil }
        self = .path(file.path, mode: file.mode)
    }

    /// Why a text is not a valid UNIX socket, with the next step; nil for a text that does not begin like
    /// one.
    package static func complaint(about text: String) -> String? {
        guard text.hasPrefix(scheme), ListeningAddress(text) == nil else { return nil }
        return SocketFile.complaint(about: text.dropFirst(scheme.count), scheme: scheme)
    }

    /// Whether only programs of this machine can connect, judging by the address.
    package var isLoopback: Bool {
        switch self {
        case .tcp(let address): address.isLoopback
        case .path: true
        }
    }

    package var description: String {
        switch self {
        case .tcp(let address): address.description
        case .path(let path, _): Self.scheme + path
        }
    }
}

// MARK: UNIX sockets in the file system

/// A UNIX socket in the file system, with permissions: `/run/camrec/door/live,mode=660`.
package struct SocketFile: Sendable, Hashable {
    /// The path of the socket.
    package let path: String
    /// Its permissions. Connecting requires write permission.
    package let mode: mode_t

    /// The default: only programs of the owner may connect.
    private static let usualMode: mode_t = 0o600

    /// Reads `PATH` or `PATH,mode=660`. Nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ",mode=", omittingEmptySubsequences: false)
        guard let path = parts.first, !path.isEmpty, parts.count <= 2, !path.contains(","),
            !path.hasPrefix("@")
        else { return nil }
        var mode = Self.usualMode
        if parts.count == 2 {
            guard let number = mode_t(parts[1], radix: 8), number & ~0o777 == 0, number & 0o200 != 0 else {
                return nil
            }
            mode = number
        }
        (self.path, self.mode) = (String(path), mode)
    }

    /// Why a text is not a socket, with the next step.
    /// - Parameter scheme: the text before it.
    static func complaint(about text: some StringProtocol, scheme: String) -> String {
        if text.hasPrefix("@") {
            return "abstract sockets have no permissions; for a file of that name write \(scheme)./\(text)"
        }
        let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, !name.isEmpty else { return "the path is missing; write \(scheme)PATH" }
        return parts.last?.hasPrefix("mode=") == true && parts.count == 2
            ? "the mode is octal and must let the owner write; write \(scheme)\(name),mode=660"
            : "a path has no comma; only a mode may follow it; write \(scheme)\(name),mode=660"
    }

    /// Why a text is not a socket, with the next step; nil if it is a socket.
    package static func complaint(about text: String) -> String? {
        SocketFile(text) == nil ? complaint(about: text, scheme: "") : nil
    }
}
