/// Reads cookies that a browser sends (RFC 6265, 4.2.1).
public enum CookieHeader {
    /// The most cookies that are looked at.
    private static let mostCookies = 64

    /// Returns the value of the first cookie of a name; nil if there is none.
    /// - Parameter headers: the values of the request's Cookie headers.
    public static func value(of name: String, in headers: [String]) -> String? {
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
