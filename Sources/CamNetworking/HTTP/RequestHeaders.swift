import FoundationEssentials

/// Reads the header `Host`: `HOST[:PORT]`.
package enum HostHeader {
    /// Returns the host, IPv6 in brackets; nil if the port is not a number.
    package static func host(of authority: String) -> String? {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]").map(authority.index(after:)) : nil
        let colon = authority[(end ?? authority.startIndex)...].firstIndex(of: ":")
        guard let colon else { return authority }
        let port = authority[authority.index(after: colon)...]
        guard UInt16(port) != nil, port.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return String(authority[..<colon])
    }
}

// MARK: X-Forwarded-For

/// Reads the client address that a reverse proxy adds, in the header `X-Forwarded-For`.
package enum ForwardedFor {
    /// The longest IPv6 address with a zone, in bytes.
    private static let longestAddress = 64

    /// Returns the last address, which the nearest proxy saw; the client may have made up the others. Nil if
    /// there is none.
    /// - Parameter headers: the values of all `X-Forwarded-For` headers of the request.
    package static func client(in headers: [String]) -> String? {
        guard
            let last = headers.last?.utf8.split(
                separator: UInt8(ascii: ","), omittingEmptySubsequences: false
            ).last
        else { return nil }
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var address = last.drop(while: isSpace)
        while let end = address.last, isSpace(end) { address.removeLast() }
        guard (1...longestAddress).contains(address.count) else { return nil }
        return String(address)
    }
}

// MARK: Cookie

/// Reads cookies in the header `Cookie` (RFC 6265, 4.2.1).
package enum CookieHeader {
    /// The most cookies to read in a header.
    private static let mostCookies = 64

    /// Returns the value of the first cookie with a name; nil if there is none.
    /// - Parameter headers: the values of all `Cookie` headers of the request.
    package static func value(of name: String, in headers: [String]) -> String? {
        for header in headers {
            for pair in header.utf8.split(separator: UInt8(ascii: ";"), maxSplits: mostCookies) {
                let pair = pair.drop { $0 == UInt8(ascii: " ") }
                guard let equals = pair.firstIndex(of: UInt8(ascii: "=")),
                    pair[..<equals].elementsEqual(name.utf8)
                else { continue }
                return String(pair[pair.index(after: equals)...])
            }
        }
        return nil
    }
}

// MARK: Authorization

/// User and password in the header `Authorization`, as players and Prometheus send them (RFC 7617).
package struct BasicCredentials: Hashable, Sendable {
    package let user: String
    package let password: String

    private static let scheme = "basic "
    /// More than any user and password that camweb accepts.
    private static let longestHeader = 1024

    /// Reads the value of the header; nil if it has another scheme or is damaged.
    package init?(_ header: String) {
        guard header.utf8.count <= Self.longestHeader,
            header.prefix(Self.scheme.count).lowercased() == Self.scheme,
            let bytes = Data(base64Encoded: String(header.dropFirst(Self.scheme.count))),
            let text = String(validating: bytes, as: UTF8.self),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        // Splits bytes, not characters: a colon with a combining accent is another character.
        user = String(decoding: text.utf8[..<colon], as: UTF8.self)
        password = String(decoding: text.utf8[text.utf8.index(after: colon)...], as: UTF8.self)
    }
}

// MARK: Range

/// The part of a file that a request wants, by the header `Range` (RFC 9110, 14.1.2).
package enum ByteRange: Hashable, Sendable {
    /// The whole file: the request has no range, several ranges, or a malformed one.
    case whole
    /// These bytes.
    case part(Range<Int>)
    /// The file has none of the bytes.
    case unsatisfiable

    /// - Parameters:
    ///   - header: the value of `Range`.
    ///   - count: the size of the file in bytes.
    package init(_ header: String, of count: Int) {
        self = .whole
        guard header.lowercased().hasPrefix("bytes=") else { return }
        let parts = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let (first, last) = (Self.number(parts[0]), Self.number(parts[1]))
        switch (first, last, parts[0].isEmpty, parts[1].isEmpty) {
        case (let first?, let last?, _, _) where first <= last:
            self = first < count ? .part(first..<min(last, count - 1) + 1) : .unsatisfiable
        case (let first?, nil, _, true): self = first < count ? .part(first..<count) : .unsatisfiable
        case (nil, let length?, true, _):
            self = length > 0 && count > 0 ? .part(max(0, count - length)..<count) : .unsatisfiable
        default: break
        }
    }

    /// Nil for anything but digits. A number beyond `Int` counts as larger than any file.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text) ?? .max
    }
}
