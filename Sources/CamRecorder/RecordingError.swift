import Capture
import Encoder
import Output
import CamSound

/// The reason a recording ended early. `description` is one line: subject, cause, next step.
public enum RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
    case capture(CaptureError)
    case encoder(EncoderError)
    case output(OutputError)
    /// A file that the recording needs cannot be read.
    case input(InputError)
    /// Sound cannot be coded.
    case sound(SoundError)
    /// The system allows no more threads or descriptors.
    case noResources

    public var description: String {
        switch self {
        case .capture(let error): error.description
        case .encoder(let error): error.description
        case .output(let error): error.description
        case .input(let error): error.description
        case .sound(let error): error.description
        case .noResources: "the system allows no more threads or open files; raise 'ulimit -u' or 'ulimit -n'"
        }
    }
}
