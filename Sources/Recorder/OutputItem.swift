import Bitstream
import Output

/// What an encoder sends to an output, in order.
enum OutputItem: Sendable {
    case unit(AccessUnit)
    /// What follows has other properties.
    case stream(StreamDescription)

    /// Bytes.
    var cost: Int {
        switch self {
        case .unit(let unit): unit.count
        case .stream: 0
        }
    }
}
