/// Why a stream could not be put into a container. `description` is one line: thing, cause, next step.
public enum RemuxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What goes in cannot be read, or is not what it should be.
    case input(InputError)
    /// What comes out cannot be written.
    case output(OutputError)
    /// There is no time for the pictures.
    case noFrameRate(input: String)
    /// A timestamp file for another recording.
    case tooFewTimestamps(file: String, timestamps: Int, pictures: Int)
    /// Asked to end before the end.
    case interrupted(pictures: Int, of: Int)

    public var description: String {
        switch self {
        case .input(let error): error.description
        case .output(let error): error.description
        case .noFrameRate(let input):
            "\(input) does not say its frame rate; give --timestamps or --fps"
        case .tooFewTimestamps(let file, let timestamps, let pictures):
            "\(file) has \(timestamps) times for \(pictures) pictures; is it this recording's?"
        case .interrupted(let pictures, let total):
            "stopped after \(pictures) of \(total) pictures; up to there the output plays"
        }
    }
}
