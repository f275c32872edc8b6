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

    /// Reads a URL, which must have a port.
    public init(_ text: String) throws(AddressFlaw) {
        guard let colon = text.firstRange(of: "://"),
            let transport = Transport(rawValue: text[..<colon.lowerBound].lowercased())
        else { throw .otherScheme }
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw .strayCharacter }
        let rest = text[colon.upperBound...]
        let place = rest.prefix { $0 != "?" }
        let authority = place.hasSuffix("/") ? place.dropLast() : place
        guard !authority.contains("@") else { throw .unwantedUser }
        receiver = try SocketAddress(withPort: authority)
        self.transport = transport
        options = rest.dropFirst(place.count + 1).split(separator: "&")
        for option in options { try Self.check(option, for: transport) }
    }

    /// A misspelt option would be ignored, and `passphrase` with it the encryption; a wrong value would fail without a
    /// reason.
    private static func check(_ option: Substring, for transport: Transport) throws(AddressFlaw) {
        let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let (name, value) = (String(parts[0]), parts.count == 2 ? parts[1] : "")
        guard transport.names.contains(name) else {
            // Anything but a word may be part of a password.
            let isWord =
                parts.count == 2 && name.utf8.count <= 24 && name.allSatisfy { $0.isLetter || $0 == "_" }
            throw .unknownOption(isWord ? name : nil)
        }
        guard isValid(value, for: name, of: transport) else { throw .value(option: name) }
    }

    private static func isValid(_ value: Substring, for name: String, of transport: Transport) -> Bool {
        switch name {
        case "mode": return ["caller", "listener", "rendezvous"].contains(value)
        case "transtype": return ["live", "file"].contains(value)
        // A whole packet of a transport stream, to the most that a datagram holds: of SRT's, less its header.
        case "pkt_size": return Int(value).map((188...(transport == .srt ? 1456 : 65507)).contains) ?? false
        // An empty one comes from elsewhere.
        case "passphrase":
            guard let passphrase = PercentEncoding.decoded(value) else { return false }
            return value.isEmpty || passphraseLengths.contains(passphrase.utf8.count)
        case "pbkeylen": return ["0", "16", "24", "32"].contains(value)
        case "ttl": return Int(value).map((0...255).contains) ?? false
        default: return transport.words.contains(name) || Int(value).map { $0 >= -1 } ?? false
        }
    }

    /// The URL for libavformat, without the passphrase.
    public var complete: String {
        // libavformat would take a + in it for a space.
        var options = options.filter { !$0.hasPrefix(Self.passphrase) }
        for (name, value) in defaults where !options.contains(where: { $0.hasPrefix("\(name)=") }) {
            options.append("\(name)=\(value)")
        }
        return "\(place)?\(options.joined(separator: "&"))"
    }

    private var defaults: [(String, Int)] {
        switch transport {
        // Seconds at the end to deliver the rest: fewer than an output waits for its receivers.
        case .srt: [("pkt_size", Self.packetSize), ("linger", 2)]
        case .udp: [("pkt_size", Self.packetSize)]
        }
    }

    /// How long the end of the stream may take to arrive; nil if nobody knows whether it does.
    public var linger: Duration? {
        let seconds = number("linger") ?? defaults.first { $0.0 == "linger" }?.1 ?? 0
        return seconds > 0 ? .seconds(seconds) : nil
    }

    /// How long the receiver holds back what it got, before it hands it over: SRT's latency. The receiver's own counts
    /// where it is longer (SRT handshake, TSBPD delay), and is not known here. Zero if nothing is held back.
    public var latency: Duration {
        guard transport == .srt, !options.contains("transtype=file"), number("tsbpd") != 0 else {
            return .zero
        }
        let given = ["latency", "peerlatency"].compactMap(number).filter { $0 >= 0 }
        return given.max().map { .microseconds(min($0, Self.longestLatency)) } ?? Self.usualLatency
    }

    /// What libsrt has by default (SRTO_PEERLATENCY, SRTO_RCVLATENCY).
    private static let usualLatency = Duration.milliseconds(120)
    /// Microseconds. Nobody waits as long at the end.
    private static let longestLatency = 60_000_000

    private func number(_ name: String) -> Int? {
        options.first { $0.hasPrefix("\(name)=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
    }

    private static let passphrase = "passphrase="

    /// Returns a text of libavformat's without the URL's options.
    public func concealing(_ text: String) -> String {
        var text = text.replacing(complete, with: place)
        if let givenPassphrase, text.contains(givenPassphrase) { return "" }
        for option in options {
            let value = option.drop { $0 != "=" }.dropFirst()
            if !value.isEmpty, text.contains(value) { text = "" }
        }
        return text
    }

    /// The passphrase in the URL; nil if there is none.
    public var givenPassphrase: String? {
        options.first { $0.hasPrefix(Self.passphrase) && $0 != Self.passphrase }
            .flatMap { PercentEncoding.decoded($0.dropFirst(Self.passphrase.count)) }
    }

    /// How many bytes SRT takes (SRTO_PASSPHRASE).
    public static let passphraseLengths = 10...79

    /// Whether a secret may be in the URL: a passphrase, or more in SRT's stream ID than the stream's name.
    public var hasSecret: Bool { givenPassphrase != nil || hasSecretInStreamID }

    /// Whether the stream ID has more in it than the stream's name and what it is for.
    public var hasSecretInStreamID: Bool {
        guard let id = streamID, let name = streamName else { return streamID != nil }
        guard id != name, let start = Self.accessControl.first(where: id.hasPrefix) else { return id != name }
        return !id.dropFirst(start.count).split(separator: ",").allSatisfy { part in
            ["r=", "m=", "t=", "h="].contains { part.hasPrefix($0) }
        }
    }

    /// Whether a passphrase encrypts the stream.
    public var isEncrypted: Bool { wantsPassphrase || givenPassphrase != nil }

    /// Whether the stream is encrypted with a passphrase that is not in the URL.
    public var wantsPassphrase: Bool { options.contains { $0 == Self.passphrase } }

    /// SRT's own syntax of a stream ID begins so (SRT Access Control Guidelines, 1), perhaps with an escape.
    private static let accessControl = ["#!::", "%23!::"]

    /// Nil if there is none.
    private var streamID: Substring? {
        let key = "streamid="
        let id = options.first { $0.hasPrefix(key) }?.dropFirst(key.count)
        return id?.isEmpty == false ? id : nil
    }

    private var place: String { "\(transport.rawValue)://\(receiver)" }

    /// The URL with the stream's name, and without any other option: several streams may go to one server.
    public var description: String { streamName.map { "\(place)?streamid=\($0)" } ?? place }

    /// What of the stream ID is no secret: the resource in SRT's own syntax (SRT Access Control Guidelines, 2), what comes
    /// before a user and a password in MediaMTX's, or a plain word.
    private var streamName: String? {
        // Anything else may be the beginning of a query or an escape, behind which there may be a secret.
        func plain(_ text: String) -> String? {
            let isPlain = text.allSatisfy { character in
                character.isASCII
                    && (character.isLetter || character.isNumber || "._-/:".contains(character))
            }
            return isPlain ? text : nil
        }
        guard let id = streamID else { return nil }
        for start in Self.accessControl where id.hasPrefix(start) {
            let parts = id.dropFirst(start.count).split(separator: ",")
            return parts.first { $0.hasPrefix("r=") }
                .flatMap { plain(String($0.dropFirst(2))) }.map { "\(start)r=\($0)" }
        }
        let name = id.split(separator: ":", omittingEmptySubsequences: false).prefix(2).joined(separator: ":")
        return plain(name)
    }
}

extension StreamURL.Transport {
    /// Every option's name.
    fileprivate var names: Set<String> {
        switch self {
        case .srt: numbers.union(words).union(["mode", "transtype", "pkt_size", "passphrase", "pbkeylen"])
        case .udp: numbers.union(words).union(["pkt_size", "ttl"])
        }
    }

    /// The names of libavformat's options that a sender can use and that have a number. -1 is the default of some.
    fileprivate var numbers: Set<String> {
        switch self {
        case .srt:
            [
                "connect_timeout", "enforced_encryption", "inputbw", "ipttl", "iptos", "kmpreannounce",
                "kmrefreshrate", "latency", "linger", "listen_timeout", "lossmaxttl", "maxbw", "mss",
                "nakreport", "oheadbw", "payload_size", "peerlatency", "rcvlatency", "send_buffer_size",
                "snddropdelay", "tlpktdrop", "tsbpd",
            ]
        case .udp:
            [
                "bitrate", "broadcast", "buffer_size", "burst_bits", "connect", "dscp", "localport", "reuse",
            ]
        }
    }

    /// The names of those that have any other value.
    fileprivate var words: Set<String> {
        switch self {
        case .srt: ["minversion", "smoother", "streamid"]
        case .udp: ["localaddr"]
        }
    }
}

// MARK: Flaws

/// Why a URL cannot be an output. The description quotes nothing that may be a password.
public enum AddressFlaw: Error, Equatable, CustomStringConvertible {
    /// It begins with another scheme.
    case otherScheme
    /// It has a space, or a character that must be escaped.
    case strayCharacter
    /// The host is missing or malformed.
    case host
    /// The port is missing, or not one.
    case port
    /// Nothing follows the host's slash.
    case path
    /// An @ stands in the path: perhaps a password with a slash is before it.
    case atInPath
    /// The user is missing before an @, or what is there has a wrong escape.
    case user
    /// It names a user, but addresses with this scheme have none.
    case unwantedUser
    /// An option is unknown there; nil for one that should not be quoted.
    case unknownOption(String?)
    /// An option has a value that it cannot have.
    case value(option: String)

    public var description: String {
        switch self {
        case .otherScheme: "it begins with another scheme"
        case .strayCharacter: "it has a space or another character that must be escaped, as %20"
        case .host: "its host is missing or malformed"
        case .port: "its port is missing or not a number from 1 to 65535"
        case .path: "it has no path after the host"
        case .atInPath: "it has an @ in the path"
        case .user: "its user is empty or has a wrong escape"
        case .unwantedUser: "it names a user, but such an address has none"
        case .unknownOption(let name): "it has an unknown option\(name.map { " '\($0)'" } ?? "")"
        case .value(let option): "its option '\(option)' has a wrong value"
        }
    }
}
