import CamPlatform
import CamSound

/// Decides what to report about a microphone: each problem once, and its end when the microphone is heard
/// again. Recurring problems are reported less and less often.
struct MicrophoneWatch {
    private let name: String
    /// Whether the current problem was reported; nil without a problem.
    private var isTroubleTold: Bool?
    private var messages = MessageLimit()
    private var quietTime = Duration.zero
    private var saysMute = true
    private var toldRate: Int?
    /// The end of the time in which a microphone may be silent after a standstill.
    private var excuseEnd = Instant.distantPast
    /// The first standstill since the microphone was heard; nil if there was none.
    private var excuseStart: Instant?

    /// A microphone that is switched on has noise within this time.
    private static let longestQuiet = Duration.seconds(10)
    /// The time that a microphone may need to be heard again after a standstill.
    private static let resumption = Duration.seconds(3)
    /// The longest excuse, however often the machine stands still: one that is always late would hide a dead
    /// microphone.
    private static let longestExcuse = Duration.seconds(10)

    init(name: String) { self.name = name }

    /// Records that the process or the machine stood still until now: silence is not the microphone's fault.
    mutating func stoodStill(until now: Instant) {
        let start = excuseStart ?? now
        excuseStart = start
        excuseEnd = min(now + Self.resumption, start + Self.longestExcuse)
    }

    /// Records that there is no microphone.
    /// - Returns: what to report; nil for nothing.
    mutating func lost(_ error: SoundError, at now: Instant) -> SoundEvent? { begin(.lost(error), at: now) }

    /// Records that nothing has come for a while.
    /// - Returns: what to report; nil for nothing.
    mutating func heardNothing(at now: Instant) -> SoundEvent? { begin(.stalled(name: name), at: now) }

    /// Records samples and their duration.
    /// - Returns: the event that the microphone is heard again; nil if there was no reported problem.
    mutating func heard(
        _ samples: UnsafeBufferPointer<Int16>, lasting duration: Duration
    ) -> SoundEvent? {
        excuseStart = nil
        let isQuiet = quietTime <= Self.longestQuiet && samples.allSatisfy { $0 == 0 }
        quietTime = isQuiet ? quietTime + duration : .zero
        if !isQuiet { saysMute = false }
        guard isTroubleTold.take() == true else { return nil }
        return .resumed(name: name)
    }

    /// Judges the samples so far.
    /// - Parameter falseRate: the measured rate of the samples, if it is not the declared one.
    /// - Returns: a new problem; nil if there is none.
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

/// A change in a recording's sound; the pictures continue. `description` is one line.
package enum SoundEvent: Sendable, Hashable, CustomStringConvertible {
    /// There is no microphone. Silence is recorded until there is one.
    case lost(SoundError)
    /// The microphone delivers nothing. Silence is recorded until it does.
    case stalled(name: String)
    /// The microphone is heard again.
    case resumed(name: String)
    /// All samples are zero.
    case mute(name: String)
    /// The measured rate is not the declared one.
    case falseRate(name: String, measured: Int)
    /// The sound ended: not even silence is recorded.
    case ended(SoundError)

    /// Whether something is wrong.
    package var isWarning: Bool { if case .resumed = self { false } else { true } }

    package var description: String {
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
