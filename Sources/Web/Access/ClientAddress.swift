import Glibc

/// Where a request comes from, as far as one person can have it: an IPv4 address, or the network of an IPv6 address.
struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    private static let networkLength = 8
    /// ::ffff:0:0/96, IPv4 addresses on an IPv6 socket.
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// - Parameter text: a number; anything else counts as one address of its own.
    init(_ text: String) {
        let number = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
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
}
