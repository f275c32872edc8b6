import CamPlatform

/// How much later than its pictures a live stream's sound is played: as little as its way here allows, because a packet is
/// sent when it is complete, and some senders collect several. The caller reads the clock.
struct SoundDelay {
    /// The delay.
    private(set) var value = Self.usual
    /// The longest lag since `since`.
    private var longest = Duration.zero
    private var since: Instant?

    /// What camrec's sound needs.
    static let usual = Duration.milliseconds(120)
    /// Sound that comes later than this does not belong to what is seen.
    static let most = Duration.seconds(1)
    /// From the arrival to the loudspeaker.
    private static let way = Duration.milliseconds(40)
    /// How long a shorter delay must have sufficed.
    private static let period = Duration.seconds(10)

    /// Notes that a packet has arrived.
    /// - Parameter lag: how much later than a picture of its time.
    mutating func note(lag: Duration, at now: Instant) {
        let begun = since ?? now
        since = begun
        longest = max(longest, min(lag, Self.most))
        if lag + Self.way > value { value = min(Self.most, lag + Self.way * 2) }
        guard now - begun >= Self.period else { return }
        // A jump is heard, so a little more than needed is no reason for one.
        if longest + Self.way * 4 < value { value = max(Self.usual, longest + Self.way * 2) }
        (longest, since) = (.zero, now)
    }
}
