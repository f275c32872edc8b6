import CamSound
import CamPlatform

/// Chooses the sound that a container can declare for a part of a recording, whose format may change, as a transport
/// stream's can: the one at the beginning of the part.
struct SoundSurvey {
    /// The sound to declare; nil if there is none so far.
    private(set) var description: SoundDescription?
    /// When another format begins in the part, from the first picture; nil if none does.
    private(set) var change: Duration?
    private let range: RemuxRange
    private var restart = SoundRestart()
    /// Whether joined recordings after the first have another format.
    private var changesInJoin = false

    /// - Parameter range: the part, from the first picture.
    init(_ range: RemuxRange) { self.range = range }

    /// Notes the next packet.
    /// - Parameters:
    ///   - current: its format.
    ///   - time: from the first picture.
    mutating func note(_ current: SoundDescription?, at time: Duration) {
        guard let current else { return }
        restart.note(time)
        if restart.hasRestarted {
            changesInJoin = changesInJoin || current != description
        } else if description == nil || time <= range.start ?? .zero {
            description = current
        } else if current != description, change == nil, range.end.map({ time < $0 }) ?? true {
            change = time
        }
    }

    /// What is left out, in words; nil if nothing is.
    var remark: String? {
        if restart.hasRestarted, range != RemuxRange() {
            return "left out: sound of recordings after the first, because times restart there; "
                + "to keep it, remux all of it first, and cut that"
        }
        if changesInJoin {
            return "left out: sound of recordings after the first that has another format; "
                + "to keep it, remux each recording by itself"
        }
        return change.map { time in
            // Rounded up, so that the advice reaches the change.
            let seconds = Double((time + .nanoseconds(999_999)).inMilliseconds) / 1000
            return "left out: sound from \(seconds) s on that has another format; "
                + "to keep it, remux that part with --from \(seconds)"
        }
    }
}
