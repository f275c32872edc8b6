import CamSound

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
