import CamPlatform

/// Decides when sound is handed to the loudspeaker, so that it is heard with its pictures: small deviations are made up for
/// by playing slower or faster, larger ones by silence or by leaving sound out. The caller reads the clock.
struct SoundSchedule {
    /// What to do with the next samples.
    enum Step: Equatable {
        /// Nothing for so long, at most.
        case wait(Duration)
        /// So much silence comes before them.
        case silence(Duration)
        /// They are handed over, and played so much longer within the next second.
        case play(stretch: Duration)
        /// It is too late for them.
        case leaveOut
    }

    /// As much waits in the loudspeaker's queue as covers a busy moment; more would be heard after a pause or a seek.
    static let queue = Duration.milliseconds(120)
    /// What is earlier is preceded by silence, and what is later is left out. Viewers notice sound that is 45 ms early or
    /// 125 ms late (ITU-R BT.1359).
    private static let (mostEarly, mostLate) = (Duration.milliseconds(40), Duration.milliseconds(60))
    /// The same where nothing was heard before: half a packet.
    private static let (mostEarlyAtFirst, mostLateAtFirst) = (
        Duration.milliseconds(1), Duration.milliseconds(11)
    )
    /// The loudspeaker takes samples in pieces, over which the deviation is averaged.
    private static let weight = 16

    /// How early sound would be heard, on average.
    private(set) var deviation = Duration.zero
    private var isAveraging = false

    /// What to do now.
    /// - Parameters:
    ///   - lead: how much too early the samples would be heard, if they were handed over now; negative if too late.
    ///   - queued: how much waits in the loudspeaker's queue.
    mutating func next(lead: Duration, queued: Duration) -> Step {
        if queued >= Self.queue { return .wait(queued - Self.queue / 2) }
        let (mostEarly, mostLate) =
            isAveraging
            ? (Self.mostEarly, Self.mostLate) : (Self.mostEarlyAtFirst, Self.mostLateAtFirst)
        if lead < .zero - mostLate {
            restart()
            return .leaveOut
        }
        if lead > mostEarly {
            // The queue must not be full of silence if the viewer seeks.
            guard queued + lead <= Self.queue else { return .wait(queued + lead - Self.queue) }
            restart()
            return .silence(lead)
        }
        deviation = isAveraging ? deviation + (lead - deviation) / Self.weight : lead
        isAveraging = true
        return .play(stretch: deviation)
    }

    /// Forgets the deviation, because the next samples do not follow the last ones.
    mutating func restart() { (deviation, isAveraging) = (.zero, false) }
}
