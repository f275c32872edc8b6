import Glibc
import NIOCore

/// Limits password attempts, per address and in total: passwords cannot be guessed, and hashing does not take
/// the whole processor.
struct AttemptLimit {
    /// A burst of attempts, then one per interval. The state is the time at which the whole burst is
    /// available again.
    private struct Allowance {
        let burst: Int
        let interval: TimeAmount

        /// Returns whether an attempt is left.
        func admits(_ full: NIODeadline, at now: NIODeadline) -> Bool {
            max(full, now) - now <= interval * (burst - 1)
        }
        func next(_ full: NIODeadline, at now: NIODeadline) -> NIODeadline { max(full, now) + interval }
    }

    private var addresses: [ClientAddress: NIODeadline] = [:]
    private var all = NIODeadline.uptimeNanoseconds(0)

    private static let forAddress = Allowance(burst: 5, interval: .seconds(30))
    private static let forAll = Allowance(burst: 20, interval: .seconds(5))
    /// How long a refused client should wait.
    static let pause = forAddress.interval

    /// Returns whether a password may be tried, and counts it.
    mutating func admit(_ address: ClientAddress, at now: NIODeadline) -> Bool {
        // The global limit bounds this table.
        addresses = addresses.filter { $0.value > now }
        let full = addresses[address] ?? now
        guard Self.forAll.admits(all, at: now), Self.forAddress.admits(full, at: now) else { return false }
        all = Self.forAll.next(all, at: now)
        addresses[address] = Self.forAddress.next(full, at: now)
        return true
    }

    /// Takes back an attempt whose password was right.
    mutating func noteSuccess(_ address: ClientAddress) {
        all = all - Self.forAll.interval
        if let full = addresses[address] { addresses[address] = full - Self.forAddress.interval }
    }
}

// MARK: Addresses of clients

/// The smallest address range one user controls: an IPv4 address, or the /64 network of an IPv6 address.
struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]
    /// The whole address, for messages; nil if the text is not an address.
    let number: String?

    static func == (one: ClientAddress, other: ClientAddress) -> Bool { one.bytes == other.bytes }
    func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// Whether the client is on this machine.
    var isLoopback: Bool { bytes.count == 4 ? bytes.first == 127 : number == "::1" }

    private static let networkLength = 8
    /// ::ffff:0:0/96: IPv4 addresses on an IPv6 socket.
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// - Parameter text: a numeric address, perhaps with the port that some proxies add; any other text
    ///   counts as a separate address.
    init(_ text: String) {
        let number = Self.withoutPort(text)
        var address = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, number, &address) == 1 {
            bytes = Array(address.prefix(4))
            self.number = number
        } else if inet_pton(AF_INET6, number, &address) == 1 {
            bytes =
                address.starts(with: Self.mappedPrefix)
                ? Array(address.suffix(4)) : Array(address.prefix(Self.networkLength))
            // An IPv4 address is known by its own form, under which firewalls block it.
            self.number =
                bytes.count == 4 ? bytes.map(String.init).joined(separator: ".") : number
        } else {
            bytes = [0] + Array(text.utf8)
            self.number = nil
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
