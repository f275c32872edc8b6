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
        let names = options.map { String($0.prefix { $0 != "=" }) }
        guard names.allSatisfy(transport.options.contains) else { return nil }
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

    /// Returns a text of libavformat's without the URL's options.
    public func concealing(_ text: String) -> String {
        var text = text.replacing(complete, with: "\(self)")
        for option in options {
            let value = option.drop { $0 != "=" }.dropFirst()
            if !value.isEmpty, text.contains(value) { text = "" }
        }
        return text
    }

    /// The passphrase in the URL; nil if there is none.
    public var givenPassphrase: String? {
        options.first { $0.hasPrefix(Self.passphrase) && $0 != Self.passphrase }
            .map { String($0.dropFirst(Self.passphrase.count)) }
    }

    /// Whether a secret is in the URL: a passphrase, or a password in SRT's stream ID.
    public var hasSecret: Bool {
        givenPassphrase != nil || options.contains { $0.hasPrefix("streamid=") && $0.count { $0 == ":" } > 2 }
    }

    /// Whether the stream is encrypted with a passphrase that is not in the URL.
    public var wantsPassphrase: Bool { options.contains { $0 == Self.passphrase } }

    /// The URL without its options.
    public var description: String { "\(transport.rawValue)://\(receiver)" }
}

extension StreamURL.Transport {
    /// The names of libavformat's options that a sender can use. A misspelt one would be ignored, and `passphrase` with
    /// it the encryption.
    fileprivate var options: Set<String> {
        switch self {
        case .srt:
            [
                "connect_timeout", "enforced_encryption", "inputbw", "ipttl", "iptos", "kmpreannounce",
                "kmrefreshrate",
                "latency", "linger", "listen_timeout", "lossmaxttl", "maxbw", "messageapi", "minversion",
                "mode", "mss",
                "nakreport", "oheadbw", "passphrase", "payload_size", "pbkeylen", "peerlatency", "pkt_size",
                "rcvlatency", "send_buffer_size", "smoother", "snddropdelay", "streamid", "tlpktdrop",
                "transtype",
                "tsbpd",
            ]
        case .udp:
            [
                "bitrate", "broadcast", "buffer_size", "burst_bits", "connect", "dscp", "localaddr",
                "localport",
                "pkt_size", "reuse", "ttl",
            ]
        }
    }
}
