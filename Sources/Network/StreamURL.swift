/// Where a transport stream is sent: `srt://HOST:PORT[?OPTIONS]` or `udp://HOST:PORT[?OPTIONS]`, with libavformat's options.
public struct StreamURL: Sendable, Hashable, CustomStringConvertible {
    /// How it gets there. The raw value is the URL's scheme.
    public enum Transport: String, Sendable, CaseIterable {
        /// Secure Reliable Transport: lost packets are sent again, and the stream may be encrypted.
        case srt
        /// Datagrams, to one receiver or a group. Nobody knows whether they arrive.
        case udp
    }

    /// How it gets there.
    public let transport: Transport
    /// The receiver.
    public let receiver: SocketAddress
    /// What is between the ampersands after the question mark. May contain passwords.
    private let options: [Substring]

    /// The bytes of seven packets of a transport stream: what fits into an Ethernet frame.
    private static let packetSize = 1316

    /// Reads a URL. Nil if it is not one, or has no port.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), let colon = text.firstRange(of: "://"),
            let transport = Transport(rawValue: text[..<colon.lowerBound].lowercased())
        else { return nil }
        let rest = text[colon.upperBound...]
        let place = rest.prefix { $0 != "?" }
        let authority = place.hasSuffix("/") ? place.dropLast() : place
        // A name without a port would be taken for one with the default port.
        guard let last = authority.last, last.isNumber, authority.contains(":"),
            let receiver = SocketAddress(String(authority)), receiver.port != 0
        else { return nil }
        (self.transport, self.receiver) = (transport, receiver)
        options = rest.dropFirst(place.count + 1).split(separator: "&")
    }

    /// The URL for libavformat. With an empty `passphrase=`, that comes from elsewhere.
    public var complete: String {
        var options = options.filter { $0 != Self.passphrase }
        for (name, value) in defaults where !options.contains(where: { $0.hasPrefix("\(name)=") }) {
            options.append("\(name)=\(value)")
        }
        return "\(self)?\(options.joined(separator: "&"))"
    }

    private var defaults: [(String, Int)] {
        switch transport {
        // Seconds at the end to deliver the rest.
        case .srt: [("pkt_size", Self.packetSize), ("linger", 3)]
        case .udp: [("pkt_size", Self.packetSize)]
        }
    }

    private static let passphrase = "passphrase="

    /// Whether the stream is encrypted with a passphrase that is not in the URL.
    public var wantsPassphrase: Bool { options.contains { $0 == Self.passphrase } }

    /// Whether there is a passphrase in the URL.
    public var hasPassphrase: Bool {
        options.contains { $0.hasPrefix(Self.passphrase) && $0 != Self.passphrase }
    }

    /// The URL without its options.
    public var description: String { "\(transport.rawValue)://\(receiver)" }
}
