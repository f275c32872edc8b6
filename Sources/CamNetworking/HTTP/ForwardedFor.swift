/// Reads what a reverse proxy says of its client, in the header `X-Forwarded-For`.
public enum ForwardedFor {
    /// The longest number of an IPv6 address, with its zone.
    private static let longestAddress = 64

    /// Returns the address that the nearest proxy saw: the last one, since a client may have sent the others itself. Nil if
    /// there is none.
    /// - Parameter headers: the values of the request's X-Forwarded-For headers.
    public static func client(in headers: [String]) -> String? {
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
