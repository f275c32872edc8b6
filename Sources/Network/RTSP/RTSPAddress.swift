/// Where a stream is published: `rtsp://[USER[:PASSWORD]@]HOST[:PORT]/PATH` (RFC 2326, 3.2).
public struct RTSPAddress: Sendable, Hashable, CustomStringConvertible {
    /// The URL scheme.
    public static let scheme = "rtsp"
    /// The port if none is given.
    public static let defaultPort: UInt16 = 554

    /// The server.
    public let server: SocketAddress
    /// Who publishes; nil if the server is not told.
    public let user: String?
    /// The password in the URL; nil if it has none.
    public let password: String?
    /// From the first slash on, as it was given: the stream's name on the server.
    let path: String

    /// Reads a URL. Nil if it is not one, or has no path.
    public init?(_ text: String) {
        let prefix = "\(Self.scheme)://"
        guard text.lowercased().hasPrefix(prefix), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        let rest = text.dropFirst(prefix.count)
        guard let slash = rest.firstIndex(of: "/"), rest.index(after: slash) < rest.endIndex else {
            return nil
        }
        let authority = rest[..<slash]
        path = String(rest[slash...])
        // A password may contain an @.
        let at = authority.lastIndex(of: "@")
        guard let server = Self.server(at.map { authority[authority.index(after: $0)...] } ?? authority)
        else { return nil }
        self.server = server
        guard let at else {
            (user, password) = (nil, nil)
            return
        }
        let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = Self.decoded(parts[0]), !name.isEmpty else { return nil }
        user = name
        if parts.count == 2 {
            guard let secret = Self.decoded(parts[1]) else { return nil }
            password = secret
        } else {
            password = nil
        }
    }

    private static func server(_ text: Substring) -> SocketAddress? {
        guard let first = text.first, first != ":" else { return nil }
        let hasPort = first == "[" ? !text.hasSuffix("]") : text.contains(":")
        let server = SocketAddress(hasPort ? String(text) : "\(text):\(defaultPort)")
        return server?.port == 0 ? nil : server
    }

    /// Replaces `%40` and the like (RFC 3986, 2.1). Nil if one is malformed.
    private static func decoded(_ text: Substring) -> String? {
        var (bytes, rest) = ([UInt8](), text.utf8[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                value >= 0x20
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The URL for requests: without user and password.
    var url: String { place + path }

    /// The URL for messages: without user and password, nor what follows a question mark, which may be secret as well.
    public var description: String { place + path.prefix { $0 != "?" } }

    /// Whether both name the same stream on the same server.
    public func isSamePlace(as other: RTSPAddress) -> Bool { url == other.url }

    private var place: String {
        let port = server.port == Self.defaultPort ? "" : ":\(server.port)"
        let host = server.host.contains(":") ? "[\(server.host)]" : server.host
        return "\(Self.scheme)://\(host)\(port)"
    }
}
