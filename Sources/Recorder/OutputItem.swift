import Bitstream
import Output

/// An item that an encoder sends to an output, in order.
enum OutputItem: Sendable {
    case unit(AccessUnit)
    /// The items that follow have other properties.
    case stream(StreamDescription)
    /// A trigger that a ring waits for has come.
    case event

    /// Size in bytes.
    var cost: Int {
        switch self {
        case .unit(let unit): unit.count
        case .stream, .event: 0
        }
    }
}
