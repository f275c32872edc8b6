/// A host and a port, as people write them: `9982`, `camera:9982`, `[::]:9982`, `tcp://192.168.1.100:9982`.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
    /// The port if none is given.
    package static let defaultPort: UInt16 = 9982
    /// The default host: only this machine.
    package static let defaultHost = "127.0.0.1"

    /// A name or a numeric address; IPv6 without brackets.
    package let host: String
    /// For a listening socket, 0 leaves the choice to the system.
    package let port: UInt16

    /// A host and a port.
    package init(host: String = Self.defaultHost, port: UInt16 = Self.defaultPort) {
        self.host = host
        self.port = port
    }

    /// Reads `[HOST:]PORT` or `HOST`; an IPv6 address is in brackets. Digits alone are a port. Nil for
    /// anything else.
    package init?(_ text: String) {
        if Self.isNumber(text[...]) {
            guard let port = UInt16(text) else { return nil }
            self.init(port: port)
        } else if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            var host = text[text.index(after: text.startIndex)..<end]
            // In a URL, the % ahead of a zone is written as %25 (RFC 6874).
            if let zone = host.firstRange(of: "%25"), zone.upperBound < host.endIndex {
                host.replaceSubrange(zone, with: "%")
            }
            self.init(host: host, rest: text[text.index(after: end)...])
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            self.init(host: text[..<end], rest: text[end...])
        }
    }

    /// Reads `SCHEME://[HOST:]PORT` or `SCHEME://HOST`. Nil for anything else.
    package init?(url: String, scheme: String) {
        let prefix = "\(scheme)://"
        guard url.hasPrefix(prefix) else { return nil }
        var text = url.dropFirst(prefix.count)
        if text.hasSuffix("/") { text = text.dropLast() }
        self.init(String(text))
    }

    /// Reads `HOST:PORT`; both parts are required.
    init(withPort text: some StringProtocol) throws(AddressFlaw) {
        let text = String(text)
        let end =
            text.hasPrefix("[") ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":")
        guard Self("\(text[..<(end ?? text.endIndex)]):1") != nil else { throw .host }
        guard let end, end < text.endIndex, let address = Self(text), address.port != 0 else { throw .port }
        self = address
    }

    /// - Parameter rest: the text after the host: nothing, or a colon and the port.
    private init?(host: Substring, rest: Substring) {
        guard Self.isHost(host) else { return nil }
        if rest.isEmpty {
            self.init(host: String(host))
        } else {
            guard rest.hasPrefix(":"), let port = Self.port(rest.dropFirst()) else { return nil }
            self.init(host: String(host), port: port)
        }
    }

    private static func port(_ text: Substring) -> UInt16? { isNumber(text) ? UInt16(text) : nil }

    private static func isNumber(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The characters of a name, a numeric address and its zone (RFC 952, RFC 4291, RFC 6874).
    private static func isHost(_ text: Substring) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                    UInt8(ascii: ":"), UInt8(ascii: "%"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Whether the host is an IP address.
    var isNumeric: Bool {
        (try? ResolvedAddress.addresses(of: self, isListening: false, isNumeric: true)) != nil
    }

    /// Whether the host is this machine by a name or address that no other machine has: `localhost`,
    /// 127.0.0.0/8, `::1`. Other names are not looked up.
    package var isLoopback: Bool {
        let addresses = try? ResolvedAddress.addresses(of: self, isListening: true, isNumeric: true)
        return addresses?.first?.isLoopback ?? (host.lowercased() == "localhost")
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
