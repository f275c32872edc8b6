import Output

/// What happens to an output while others go on. `description` is one line.
public enum OutputEvent: Sendable, Equatable, CustomStringConvertible {
    /// Nothing more is written to it.
    case failed(OutputError)
    /// It took nothing for too long; what comes is lost for it until it takes something.
    case blocked(OutputError)
    /// It goes on with a keyframe, after so many frames were lost.
    case resumed(name: String, lost: Int)

    public var description: String {
        switch self {
        case .failed(let error): "\(error) (the other outputs go on)"
        case .blocked(let error): "\(error) (retrying; the other outputs continue)"
        case .resumed(let name, let lost): "\(name): recording again; frames lost: \(lost)"
        }
    }
}
