/// Sorts times from decoding order into presentation order; each leaves as soon as no smaller one can follow.
struct PresentationOrder {
    /// How many pictures at most precede another in decoding order and follow it in presentation order.
    let reordering: Int
    /// In ascending order.
    private var held: [Int64] = []

    /// The largest possible reordering: both standards allow 16 pictures (H.264 A.3.1, H.265 A.4.2).
    static let largestReordering = 16

    /// - Parameter reordering: clamped to 0 to 16.
    init(reordering: Int) {
        self.reordering = max(0, min(reordering, Self.largestReordering))
        held.reserveCapacity(self.reordering + 1)
    }

    /// Takes the next time, and returns the smallest if more are held than can be out of order.
    mutating func insert(_ time: Int64) -> Int64? {
        held.insert(time, at: held.firstIndex { $0 > time } ?? held.endIndex)
        return held.count > reordering ? held.removeFirst() : nil
    }

    /// Removes and returns the smallest of the times that are still held.
    mutating func removeFirst() -> Int64? { held.isEmpty ? nil : held.removeFirst() }
}
