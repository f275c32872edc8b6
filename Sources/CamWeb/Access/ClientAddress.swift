import Glibc

/// Where a request comes from, as far as one person can have it: an IPv4 address, or the network of an IPv6 address.
struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    private static let networkLength = 8
    /// ::ffff:0:0/96, IPv4 addresses on an IPv6 socket.
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// - Parameter text: a number, perhaps with a port, which some proxies add; anything else counts as one address of its
    ///   own.
    init(_ text: String) {
        let number = Self.withoutPort(text)
        var address = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, number, &address) == 1 {
            bytes = Array(address.prefix(4))
        } else if inet_pton(AF_INET6, number, &address) == 1 {
            bytes =
                address.starts(with: Self.mappedPrefix)
                ? Array(address.suffix(4)) : Array(address.prefix(Self.networkLength))
        } else {
            bytes = [0] + Array(text.utf8)
        }
    }

    private static func withoutPort(_ text: String) -> String {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            return String(text[text.index(after: text.startIndex)..<end])
        }
        // IPv6 addresses without brackets have more than one colon.
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[0]) : text
    }
}
