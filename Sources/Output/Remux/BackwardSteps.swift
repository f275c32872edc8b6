/// Counts the pictures whose time is not later than the previously presented picture's, which no container
/// allows.
struct BackwardSteps {
    /// Such pictures so far.
    private(set) var count = 0
    /// The latest pictures, in decoding order.
    private var recent: [(number: Int, time: Duration)] = []

    /// Takes the next picture in decoding order.
    /// - Parameters:
    ///   - number: its place in presentation order.
    ///   - time: when it is shown, on any clock.
    mutating func note(number: Int, time: Duration) {
        for other in recent {
            if other.number == number - 1, other.time >= time { count += 1 }
            if other.number == number + 1, other.time <= time { count += 1 }
        }
        recent.append((number, time))
        if recent.count > PictureQueue.limit { recent.removeFirst() }
    }
}
