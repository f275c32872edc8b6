import CamPlatform

/// When the latest access units arrived, by their numbers.
struct ArrivalTimes {
    private var entries: [(number: Int, arrival: Instant?)?] = Array(repeating: nil, count: Self.capacity)

    /// More than the fields of the 16 pictures that may be held back (H.264, A.3.1; H.265, A.4.2).
    private static let capacity = 64

    /// Notes that an access unit arrived.
    mutating func note(_ arrival: Instant?, of number: Int) {
        entries[number & (Self.capacity - 1)] = (number, arrival)
    }

    /// Returns nil for a number that no recent access unit with a time had; any number is allowed.
    func arrival(of number: Int64) -> Instant? {
        guard let entry = entries[Int(number & Int64(Self.capacity - 1))], entry.number == number else {
            return nil
        }
        return entry.arrival
    }
}
