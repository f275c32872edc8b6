import Capture
import Encoder
import CamConversion
import Output

/// Why there is no snapshot. `description` is one line: subject, cause, next step.
public enum SnapshotError: Error, Sendable, Equatable, CustomStringConvertible {
    case capture(CaptureError)
    /// The source's pictures cannot be converted.
    case conversion(ConversionError, device: String)
    /// Too many pictures in a row were damaged.
    case allDamaged(count: Int, last: ConversionError, device: String)
    /// The source ended before its first usable picture.
    case noPicture(device: String)
    case image(ImageError)
    case output(OutputError)

    public var description: String {
        switch self {
        case .capture(let error): error.description
        case .conversion(let error, let device): "\(device): \(error)"
        case .allDamaged(let count, let last, let device):
            "\(device): \(count) pictures in a row could not be used (\(last)); try another --format"
        case .noPicture(let device): "\(device): it ended without a picture; check the file"
        case .image(let error): error.description
        case .output(let error): error.description
        }
    }
}
