import CamPlatform
import CamSound

/// Decides what is said about a microphone: each trouble once, and that it is over once it is heard again. One that comes
/// and goes is mentioned ever more rarely.
struct MicrophoneWatch {
    private let name: String
    /// Whether the trouble that there is was reported; nil if there is none.
    private var isTroubleTold: Bool?
    private var messages = MessageLimit()
    private var quietTime = Duration.zero
    private var saysMute = true
    private var toldRate: Int?
    /// Until then a microphone may be silent, because nothing ran.
    private var excuseEnd = Instant.distantPast

    /// A microphone that is switched on has noise within this time.
    private static let longestQuiet = Duration.seconds(10)
    /// What a microphone may need to be heard again after a standstill.
    private static let resumption = Duration.seconds(3)

    init(name: String) { self.name = name }

    /// Notes that the process or the machine stood still until now, which is not the microphone's fault.
    mutating func stoodStill(until now: Instant) { excuseEnd = now + Self.resumption }

    /// Notes that there is none.
    /// - Returns: what to report; nil for nothing.
    mutating func lost(_ error: SoundError, at now: Instant) -> SoundEvent? { begin(.lost(error), at: now) }

    /// Notes that nothing has come for a while.
    /// - Returns: what to report; nil for nothing.
    mutating func heardNothing(at now: Instant) -> SoundEvent? { begin(.stalled(name: name), at: now) }

    /// Notes samples, and how long they last.
    /// - Returns: that it is heard again; nil if that is no news.
    mutating func heard(
        _ samples: UnsafeBufferPointer<Int16>, lasting duration: Duration
    ) -> SoundEvent? {
        let isQuiet = quietTime <= Self.longestQuiet && samples.allSatisfy { $0 == 0 }
        quietTime = isQuiet ? quietTime + duration : .zero
        if !isQuiet { saysMute = false }
        guard isTroubleTold.take() == true else { return nil }
        return .resumed(name: name)
    }

    /// Looks at what was heard.
    /// - Parameter falseRate: the rate of its samples, if it is not what it says.
    /// - Returns: what is wrong with it; nil for nothing new.
    mutating func judge(falseRate: Int?) -> SoundEvent? {
        if saysMute, quietTime > Self.longestQuiet {
            saysMute = false
            return .mute(name: name)
        }
        guard let falseRate, falseRate != toldRate else { return nil }
        toldRate = falseRate
        return .falseRate(name: name, measured: falseRate)
    }

    private mutating func begin(_ event: SoundEvent, at now: Instant) -> SoundEvent? {
        guard isTroubleTold == nil, now >= excuseEnd else { return nil }
        let isTold = messages.admit(at: now) != nil
        isTroubleTold = isTold
        return isTold ? event : nil
    }
}

// MARK: Events

/// What happens to a recording's sound; the pictures go on. `description` is one line.
public enum SoundEvent: Sendable, Hashable, CustomStringConvertible {
    /// There is no microphone, and silence is recorded until there is one.
    case lost(SoundError)
    /// It delivers nothing, and silence is recorded until it does.
    case stalled(name: String)
    /// It is heard again.
    case resumed(name: String)
    /// All its samples are zero.
    case mute(name: String)
    /// Its rate is not what it says.
    case falseRate(name: String, measured: Int)
    /// There is no more sound, not even silence.
    case ended(SoundError)

    /// Whether something is wrong.
    public var isWarning: Bool { if case .resumed = self { false } else { true } }

    public var description: String {
        switch self {
        case .lost(let error): "\(error) (silence is recorded until it is back; the pictures continue)"
        case .stalled(let name):
            "\(name): the microphone delivers nothing; unplug it and plug it in again (silence is recorded until it does; "
                + "the pictures continue)"
        case .resumed(let name): "\(name): sound again"
        case .mute(let name):
            "\(name): the microphone delivers only zeros; it may be switched off: see 'alsamixer'"
        case .falseRate(let name, let measured):
            "\(name): the microphone delivers \(measured) samples a second, which is not what it says; they are converted"
        case .ended(let error): "\(error) (the sound ends here; the pictures continue)"
        }
    }
}
