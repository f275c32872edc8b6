import Bitstream
import Output

/// What an encoder sends to an output, in order.
enum OutputItem: Sendable {
    case unit(AccessUnit)
    /// What follows has other properties.
    case stream(StreamDescription)
    /// Something may have happened that a ring waits for.
    case event

    /// Bytes.
    var cost: Int {
        switch self {
        case .unit(let unit): unit.count
        case .stream, .event: 0
        }
    }
}
