import Sound

/// What happens to a recording's sound; the pictures go on. `description` is one line.
public enum SoundEvent: Sendable, Hashable, CustomStringConvertible {
    /// There is no microphone; silence is recorded until there is one.
    case lost(SoundError)
    /// It delivers nothing, or too little; silence is recorded in place of that.
    case stalled(name: String)
    /// It delivers again.
    case resumed(name: String)
    /// All its samples are zero.
    case mute(name: String)
    /// Its rate is not what it says.
    case falseRate(name: String, claimed: Int, measured: Int)

    /// Whether something is wrong.
    public var isWarning: Bool { if case .resumed = self { false } else { true } }

    public var description: String {
        switch self {
        case .lost(let error): "\(error) (recording silence until then; the pictures continue)"
        case .stalled(let name):
            "\(name): the microphone delivers nothing (recording silence until it does; the pictures continue)"
        case .resumed(let name): "\(name): sound again"
        case .mute(let name):
            "\(name): the microphone delivers only zeros; it may be switched off: see 'alsamixer'"
        case .falseRate(let name, let claimed, let measured):
            "\(name): the microphone delivers \(measured) samples a second, and not \(claimed); they are converted"
        }
    }
}
