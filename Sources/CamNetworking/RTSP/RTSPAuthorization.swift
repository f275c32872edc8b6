import CFFmpeg

/// Proves the knowledge of a password to a server (RFC 7617, RFC 7616, RFC 2617).
struct RTSPAuthorization {
    private let user: String
    private let password: String
    private let scheme: Scheme
    /// How often the nonce of the server was used.
    private var useCount = 0

    private enum Scheme {
        case basic
        case digest(Digest)
    }

    private struct Digest {
        let realm: String
        let nonce: String
        let opaque: String?
        /// Whether the server wants `qop=auth`.
        let hasQuality: Bool
        let algorithm: Algorithm
    }

    private enum Algorithm: String {
        case md5 = "MD5"
        case sha256 = "SHA-256"

        /// The name of the algorithm in libavutil.
        var libraryName: String {
            switch self {
            case .md5: "MD5"
            case .sha256: "SHA256"
            }
        }
    }

    /// Chooses the strongest scheme that a server offers: SHA-256, then MD5, then the plain password.
    /// - Parameter challenges: the `WWW-Authenticate` headers.
    /// - Returns: nil if no scheme is known.
    init?(challenges: [String], user: String, password: String) {
        let challenges = challenges.flatMap(Self.split)
        let digests = challenges.compactMap(Self.digest)
        let strongest = digests.first { $0.algorithm == .sha256 } ?? digests.first
        let isBasic = challenges.contains { $0.lowercased().hasPrefix("basic") }
        guard let scheme = strongest.map(Scheme.digest) ?? (isBasic ? .basic : nil) else { return nil }
        (self.user, self.password, self.scheme) = (user, password, scheme)
    }

    /// Returns the `Authorization` header for a request.
    /// - Parameter clientNonce: random; used if the server wants one.
    mutating func header(method: String, url: String, clientNonce: String) -> String {
        switch scheme {
        case .basic: return "Basic \(Array("\(user):\(password)".utf8).base64)"
        case .digest(let digest):
            useCount += 1
            return Self.header(
                digest, user: user, password: password, method: method, url: url, clientNonce: clientNonce,
                useCount: useCount)
        }
    }

    private static func header(
        _ digest: Digest, user: String, password: String, method: String, url: String, clientNonce: String,
        useCount: Int
    ) -> String {
        let hash = { (text: String) in Self.hash(text, digest.algorithm) }
        let secret = hash("\(user):\(digest.realm):\(password)")
        let request = hash("\(method):\(url)")
        let hexadecimal = String(useCount, radix: 16)
        let count = String(repeating: "0", count: max(0, 8 - hexadecimal.count)) + hexadecimal
        let middle = digest.hasQuality ? "\(digest.nonce):\(count):\(clientNonce):auth" : digest.nonce
        var fields = [
            "username=\"\(quoted(user))\"", "realm=\"\(digest.realm)\"", "nonce=\"\(digest.nonce)\"",
            "uri=\"\(url)\"", "response=\"\(hash("\(secret):\(middle):\(request)"))\"",
        ]
        if digest.algorithm != .md5 { fields.append("algorithm=\(digest.algorithm.rawValue)") }
        if digest.hasQuality { fields += ["qop=auth", "nc=\(count)", "cnonce=\"\(clientNonce)\""] }
        if let opaque = digest.opaque { fields.append("opaque=\"\(opaque)\"") }
        return "Digest " + fields.joined(separator: ", ")
    }

    private static func quoted(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    /// Returns a hash in hexadecimal. If memory runs out it is empty, which no server accepts.
    private static func hash(_ text: String, _ algorithm: Algorithm) -> String {
        var context: OpaquePointer?
        defer { av_hash_freep(&context) }
        guard av_hash_alloc(&context, algorithm.libraryName) == 0, let context else { return "" }
        let bytes = Array(text.utf8)
        var sum = [UInt8](repeating: 0, count: Int(av_hash_get_size(context)))
        av_hash_init(context)
        av_hash_update(context, bytes, bytes.count)
        av_hash_final(context, &sum)
        return sum.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Whether a server rejects a proof only because of an expired nonce (RFC 7616, 3.3).
    static func isStale(_ challenges: [String]) -> Bool {
        challenges.flatMap(split).contains { challenge in
            let words = challenge.split(separator: " ", maxSplits: 1)
            return words.count == 2 && fields(of: words[1])["stale"]?.lowercased() == "true"
        }
    }

    /// Splits a header into challenges (RFC 7235, 4.1), each of which begins with a word before a space.
    private static func split(_ header: String) -> [String] {
        var (parts, isQuoted) = ([""], false)
        for character in header {
            if character == "\"" { isQuoted.toggle() }
            if character == ",", !isQuoted {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts.reduce(into: []) { challenges, part in
            let part = part.drop { $0 == " " || $0 == "\t" }
            let isField = part.prefix { $0 != " " }.contains("=")
            if isField, let last = challenges.last {
                challenges[challenges.count - 1] = "\(last), \(part)"
            } else if !part.isEmpty {
                challenges.append(String(part))
            }
        }
    }

    /// Reads a digest challenge; nil for any other.
    private static func digest(_ challenge: String) -> Digest? {
        guard challenge.lowercased().hasPrefix("digest ") else { return nil }
        let fields = fields(of: challenge.dropFirst("digest ".count))
        guard let realm = fields["realm"], let nonce = fields["nonce"],
            let algorithm = Algorithm(rawValue: (fields["algorithm"] ?? "MD5").uppercased())
        else { return nil }
        let qualities = fields["qop"].map { $0.split(separator: ",").map { $0.filter { $0 != " " } } }
        if let qualities, !qualities.contains("auth") { return nil }
        return Digest(
            realm: realm, nonce: nonce, opaque: fields["opaque"], hasQuality: qualities != nil,
            algorithm: algorithm)
    }

    /// Reads `name=value, name="value"`. The text between quotes is kept unchanged.
    private static func fields(of text: Substring) -> [String: String] {
        var (fields, rest) = ([String: String](), text)
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].filter { !" ,\t".contains($0) }.lowercased()
            rest = rest[rest.index(after: equals)...]
            let isQuoted = rest.first == "\""
            if isQuoted { rest = rest.dropFirst() }
            let end = rest.firstIndex(of: isQuoted ? "\"" : ",") ?? rest.endIndex
            fields[name] = fields[name] ?? String(rest[..<end])
            rest = rest[end...].dropFirst()
        }
        return fields
    }
}

// MARK: Base 64

extension Array where Element == UInt8 {
    /// The bytes in base 64 (RFC 4648, 4).
    package var base64: String {
        var text = [CChar](repeating: 0, count: (count + 2) / 3 * 4 + 1)
        av_base64_encode(&text, Int32(clamping: text.count), self, Int32(clamping: count))
        return String(decoding: text.dropLast().map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
    }
}
