/// The URL to which a stream is published: `rtsp://[USER[:PASSWORD]@]HOST[:PORT]/PATH` (RFC 2326, 3.2), or
/// `rtsps://` for TLS.
package struct RTSPAddress: Sendable, Hashable, CustomStringConvertible {
    /// The URL schemes.
    package static let schemes = ["rtsp", "rtsps"]

    /// Whether the connection is encrypted and the identity of the server verified.
    package let isEncrypted: Bool
    /// The host and port of the server.
    package let server: SocketAddress
    /// The user in the URL; nil if it has none.
    package let user: String?
    /// The password in the URL; nil if it has none.
    package let password: String?
    /// The path with its first slash, as given: the name of the stream on the server.
    let path: String

    /// Reads a URL, which must have a path. An @ in the path must be escaped as %40: in
    /// `rtsp://USER:1/2@HOST/PATH` a password with a slash would be taken for a port and a path, and shown.
    package init(_ text: String) throws(AddressFlaw) {
        guard let colon = text.firstRange(of: "://"),
            let scheme = Self.schemes.first(where: { text[..<colon.lowerBound].lowercased() == $0 })
        else { throw .otherScheme }
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw .strayCharacter }
        isEncrypted = scheme == "rtsps"
        let rest = text[colon.upperBound...]
        guard let slash = rest.firstIndex(of: "/"), rest.index(after: slash) < rest.endIndex else {
            throw .path
        }
        let authority = rest[..<slash]
        path = String(rest[slash...])
        guard !path.contains("@") else { throw .atInPath }
        // A password may contain an @.
        let at = authority.lastIndex(of: "@")
        let place = at.map { authority[authority.index(after: $0)...] } ?? authority
        server = try Self.server(place, defaultPort: Self.defaultPort(isEncrypted: isEncrypted))
        guard let at else {
            (user, password) = (nil, nil)
            return
        }
        let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = PercentEncoding.decoded(parts[0]), !name.isEmpty else { throw .user }
        user = name
        if parts.count == 2 {
            guard let secret = PercentEncoding.decoded(parts[1]) else { throw .user }
            // An empty password means that it comes from elsewhere.
            password = secret.isEmpty ? nil : secret
        } else {
            password = nil
        }
    }

    /// The ports registered with IANA.
    private static func defaultPort(isEncrypted: Bool) -> UInt16 { isEncrypted ? 322 : 554 }

    private static func server(
        _ text: Substring, defaultPort: UInt16
    ) throws(AddressFlaw) -> SocketAddress {
        guard let first = text.first, first != ":" else { throw .host }
        let hasPort = first == "[" ? !text.hasSuffix("]") : text.contains(":")
        return try SocketAddress(withPort: hasPort ? text : "\(text):\(defaultPort)")
    }

    /// Whether the query has a secret, judging by its names, such as `pass` and `jwt` of MediaMTX.
    package var hasSecretInQuery: Bool {
        path.split(separator: "?", maxSplits: 1).dropFirst().joined().split(separator: "&").contains { part in
            Self.secretNames.contains(part.prefix { $0 != "=" }.lowercased())
        }
    }

    private static let secretNames: Set = [
        "auth", "jwt", "key", "pass", "passwd", "password", "pwd", "secret", "sig", "signature", "tok",
        "token",
    ]

    /// The URL for requests: without user and password.
    var url: String { place + path }

    /// The URL for messages: without user, password and query, which may have a secret, too.
    package var description: String { place + path.prefix { $0 != "?" } }

    private var place: String {
        let isDefault = server.port == Self.defaultPort(isEncrypted: isEncrypted)
        let port = isDefault ? "" : ":\(server.port)"
        let host = server.host.contains(":") ? "[\(server.host)]" : server.host
        return "\(isEncrypted ? "rtsps" : "rtsp")://\(host)\(port)"
    }
}
