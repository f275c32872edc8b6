import NIOCore

/// Limits how often passwords can be tried, from each address and in all, so that they cannot be guessed, and their
/// hashes do not take the processor.
struct AttemptLimit {
    /// Some tries at once, then one in each interval: kept as the time at which all are available again.
    private struct Allowance {
        let burst: Int
        let interval: TimeAmount

        /// Returns whether there is one left.
        func admits(_ full: NIODeadline, at now: NIODeadline) -> Bool {
            max(full, now) - now <= interval * (burst - 1)
        }
        func next(_ full: NIODeadline, at now: NIODeadline) -> NIODeadline { max(full, now) + interval }
    }

    private var addresses: [ClientAddress: NIODeadline] = [:]
    private var all = NIODeadline.uptimeNanoseconds(0)

    private static let forAddress = Allowance(burst: 5, interval: .seconds(30))
    private static let forAll = Allowance(burst: 20, interval: .seconds(5))
    /// How long one who is refused should wait.
    static let pause = forAddress.interval

    /// Returns whether a password may be tried, and counts it.
    mutating func admit(_ address: ClientAddress, at now: NIODeadline) -> Bool {
        // Few are left: together they have no more than all may have.
        addresses = addresses.filter { $0.value > now }
        let full = addresses[address] ?? now
        guard Self.forAll.admits(all, at: now), Self.forAddress.admits(full, at: now) else { return false }
        all = Self.forAll.next(all, at: now)
        addresses[address] = Self.forAddress.next(full, at: now)
        return true
    }

    /// Notes that the password was right: the try does not count.
    mutating func noteSuccess(_ address: ClientAddress) {
        all = all - Self.forAll.interval
        if let full = addresses[address] { addresses[address] = full - Self.forAddress.interval }
    }
}
