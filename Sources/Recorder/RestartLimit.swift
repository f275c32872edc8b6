/// At most three restarts a minute, with a second between them.
struct RestartLimit {
    private static let most = 3
    private static let period: Int64 = 60_000_000_000
    private static let distance: Int64 = 1_000_000_000

    private var times: [Int64] = []

    mutating func allowsAnother(at time: Int64) -> Bool {
        times.removeAll { time - $0 >= Self.period }
        return times.count < Self.most
    }

    /// When the next restart may be, where that is later than now; nanoseconds.
    func pause(at time: Int64) -> Int64? {
        guard let last = times.last, time - last < Self.distance else { return nil }
        return last + Self.distance
    }

    mutating func count(at time: Int64) { times.append(time) }
}
