/// The destination of a transport stream: `srt://HOST:PORT[?OPTIONS]` or `udp://HOST:PORT[?OPTIONS]`, with
/// options of libavformat.
package struct StreamURL: Sendable, Hashable, CustomStringConvertible {
    /// The protocol. The raw value is the scheme of the URL.
    package enum Transport: String, Sendable, CaseIterable {
        /// Secure Reliable Transport: retransmits lost packets, and may encrypt the stream.
        case srt
        /// Datagrams to one receiver or a group, which do not confirm them.
        case udp
    }

    /// The protocol.
    package let transport: Transport
    /// The receiver.
    package let receiver: SocketAddress
    /// The options after the question mark. May contain passwords.
    private let options: [Substring]

    /// Seven packets of a transport stream, which fit into an Ethernet frame.
    private static let packetSize = 1316

    /// Reads a URL, which must have a port.
    package init(_ text: String) throws(AddressFlaw) {
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

    /// Rejects unknown options and wrong values. libavformat would ignore a misspelt `passphrase` and not
    /// encrypt, and would fail on a wrong value without a reason.
    private static func check(_ option: Substring, for transport: Transport) throws(AddressFlaw) {
        let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let (name, value) = (String(parts[0]), parts.count == 2 ? parts[1] : "")
        guard transport.names.contains(name) else {
            // Only a word is quoted: anything else may be part of a password.
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
        // From one packet of a transport stream to the largest datagram, less the header of SRT.
        case "pkt_size": return Int(value).map((188...(transport == .srt ? 1456 : 65507)).contains) ?? false
        // An empty passphrase means that it comes from elsewhere.
        case "passphrase":
            guard let passphrase = PercentEncoding.decoded(value) else { return false }
            return value.isEmpty || passphraseLengths.contains(passphrase.utf8.count)
        case "pbkeylen": return ["0", "16", "24", "32"].contains(value)
        case "ttl": return Int(value).map((0...255).contains) ?? false
        default: return transport.words.contains(name) || Int(value).map { $0 >= -1 } ?? false
        }
    }

    /// The URL for libavformat, without the passphrase.
    package var complete: String {
        // libavformat would decode a + in the passphrase as a space.
        var options = options.filter { !$0.hasPrefix(Self.passphrase) }
        for (name, value) in defaults where !options.contains(where: { $0.hasPrefix("\(name)=") }) {
            options.append("\(name)=\(value)")
        }
        return "\(place)?\(options.joined(separator: "&"))"
    }

    private var defaults: [(String, Int)] {
        switch transport {
        // `linger`, the seconds to deliver the rest at the end, is shorter than an output waits for its
        // receivers.
        case .srt: [("pkt_size", Self.packetSize), ("linger", 2)]
        case .udp: [("pkt_size", Self.packetSize)]
        }
    }

    /// How long the end of the stream may take to arrive; nil if arrival is not confirmed.
    package var linger: Duration? {
        let seconds = number("linger") ?? defaults.first { $0.0 == "linger" }?.1 ?? 0
        return seconds > 0 ? .seconds(seconds) : nil
    }

    /// How long the receiver delays the stream: the latency of SRT. A longer latency set at the receiver wins
    /// (SRT handshake, TSBPD delay), but is not known here. Zero if there is no delay.
    package var latency: Duration {
        guard transport == .srt, !options.contains("transtype=file"), number("tsbpd") != 0 else {
            return .zero
        }
        let given = ["latency", "peerlatency"].compactMap(number).filter { $0 >= 0 }
        return given.max().map { .microseconds(min($0, Self.longestLatency)) } ?? Self.usualLatency
    }

    /// The default of libsrt (SRTO_PEERLATENCY, SRTO_RCVLATENCY).
    private static let usualLatency = Duration.milliseconds(120)
    /// The longest latency to wait for at the end, in microseconds.
    private static let longestLatency = 60_000_000

    private func number(_ name: String) -> Int? {
        options.first { $0.hasPrefix("\(name)=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
    }

    private static let passphrase = "passphrase="

    /// Removes the options of the URL from a text of libavformat; returns an empty text if a secret would
    /// remain.
    package func concealing(_ text: String) -> String {
        var text = text.replacing(complete, with: place)
        if let givenPassphrase, text.contains(givenPassphrase) { return "" }
        for option in options {
            let value = option.drop { $0 != "=" }.dropFirst()
            if !value.isEmpty, text.contains(value) { text = "" }
        }
        return text
    }

    /// The passphrase in the URL; nil if there is none.
    package var givenPassphrase: String? {
        options.first { $0.hasPrefix(Self.passphrase) && $0 != Self.passphrase }
            .flatMap { PercentEncoding.decoded($0.dropFirst(Self.passphrase.count)) }
    }

    /// The lengths that SRT accepts, in bytes (SRTO_PASSPHRASE).
    package static let passphraseLengths = 10...79

    /// Whether the URL may have a secret: a passphrase, or a stream ID with more than the name of the stream.
    package var hasSecret: Bool { givenPassphrase != nil || hasSecretInStreamID }

    /// Whether the stream ID has more than the name and the purpose of the stream.
    package var hasSecretInStreamID: Bool {
        guard let id = streamID, let name = streamName else { return streamID != nil }
        guard id != name, let start = Self.accessControl.first(where: id.hasPrefix) else { return id != name }
        return !id.dropFirst(start.count).split(separator: ",").allSatisfy { part in
            ["r=", "m=", "t=", "h="].contains { part.hasPrefix($0) }
        }
    }

    /// Whether a passphrase encrypts the stream.
    package var isEncrypted: Bool { wantsPassphrase || givenPassphrase != nil }

    /// Whether the stream is encrypted with a passphrase that is not in the URL.
    package var wantsPassphrase: Bool { options.contains { $0 == Self.passphrase } }

    /// The beginning of a stream ID in the syntax of SRT (SRT Access Control Guidelines, 1), perhaps with an
    /// escape.
    private static let accessControl = ["#!::", "%23!::"]

    /// Nil if there is none.
    private var streamID: Substring? {
        let key = "streamid="
        let id = options.first { $0.hasPrefix(key) }?.dropFirst(key.count)
        return id?.isEmpty == false ? id : nil
    }

    private var place: String { "\(transport.rawValue)://\(receiver)" }

    /// The URL with the name of the stream, because several streams may go to one server, and without other
    /// options.
    package var description: String { streamName.map { "\(place)?streamid=\($0)" } ?? place }

    /// The part of the stream ID that is not secret: the resource in the syntax of SRT (SRT Access Control
    /// Guidelines, 2), the text before user and password in the syntax of MediaMTX, or a plain word.
    private var streamName: String? {
        // Any other character may begin a query or an escape, which may hide a secret.
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
    /// The names of all options.
    fileprivate var names: Set<String> {
        switch self {
        case .srt: numbers.union(words).union(["mode", "transtype", "pkt_size", "passphrase", "pbkeylen"])
        case .udp: numbers.union(words).union(["pkt_size", "ttl"])
        }
    }

    /// The names of the options for senders whose value is a number. Some have the default -1.
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

    /// The names of the options for senders with any other value.
    fileprivate var words: Set<String> {
        switch self {
        case .srt: ["minversion", "smoother", "streamid"]
        case .udp: ["localaddr"]
        }
    }
}

// MARK: Flaws

/// Why a URL cannot be an output. The description does not quote text that may be a password.
package enum AddressFlaw: Error, Equatable, CustomStringConvertible {
    /// The URL begins with another scheme.
    case otherScheme
    /// The URL has a space or a character that must be escaped.
    case strayCharacter
    /// The host is missing or malformed.
    case host
    /// The port is missing or malformed.
    case port
    /// Nothing follows the host's slash.
    case path
    /// The path has an @, perhaps after a password with a slash.
    case atInPath
    /// The user before an @ is missing, or user or password has a wrong escape.
    case user
    /// The URL names a user, but this scheme has no users.
    case unwantedUser
    /// An option is unknown; nil for a name that must not be quoted.
    case unknownOption(String?)
    /// An option has an invalid value.
    case value(option: String)

    package var description: String {
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
