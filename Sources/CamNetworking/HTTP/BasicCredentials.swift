import FoundationEssentials

/// User and password as players and Prometheus send them, in the header `Authorization` (RFC 7617).
public struct BasicCredentials: Hashable, Sendable {
    public let user: String
    public let password: String

    private static let scheme = "basic "
    /// More than any user and password that camweb takes.
    private static let longestHeader = 1024

    /// Reads the header's value; nil if it is of another scheme, or damaged.
    public init?(_ header: String) {
        guard header.utf8.count <= Self.longestHeader,
            header.prefix(Self.scheme.count).lowercased() == Self.scheme,
            let bytes = Data(base64Encoded: String(header.dropFirst(Self.scheme.count))),
            let text = String(validating: bytes, as: UTF8.self),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        // On bytes: as a character, a colon may have an accent.
        user = String(decoding: text.utf8[..<colon], as: UTF8.self)
        password = String(decoding: text.utf8[text.utf8.index(after: colon)...], as: UTF8.self)
    }
}
