/// How long to wait before a source is tried again: a tenth of a second, and twice as long each time, up to two
/// seconds.
struct SourceBackOff {
    private var pause: Int64 = 0
    private var lastTry: Int64 = .min / 2

    private static let first: Int64 = 100_000_000
    private static let longest: Int64 = 2_000_000_000
    /// A source that did without another try for so long is well again.
    private static let recovery: Int64 = 20_000_000_000

    /// The moment of the next try, in nanoseconds.
    mutating func next(at now: Int64) -> Int64 {
        pause = now - lastTry > Self.recovery ? Self.first : min(2 * pause, Self.longest)
        lastTry = now + pause
        return lastTry
    }
}
