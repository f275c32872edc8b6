import Output

/// A change in one output while the others continue. `description` is one line.
public enum OutputEvent: Sendable, Equatable, CustomStringConvertible {
    /// The output has ended.
    case failed(OutputError)
    /// The output stalled; new data is lost until it accepts data again.
    case blocked(OutputError)
    /// The output continues with a keyframe, after losing frames.
    case resumed(name: String, lost: Int)

    public var description: String {
        switch self {
        case .failed(let error): "\(error) (the other outputs continue)"
        case .blocked(let error): "\(error) (retrying; the other outputs continue)"
        case .resumed(let name, let lost): "\(name): recording again; frames lost: \(lost)"
        }
    }
}
