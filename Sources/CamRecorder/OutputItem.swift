import Bitstream
import Output
import CamSound

/// An item that an encoder sends to an output, in order.
enum OutputItem: Sendable {
    case unit(AccessUnit)
    case sound(SoundPacket)
    /// No more sound follows.
    case soundEnd
    /// The items that follow have other properties.
    case stream(StreamDescription)
    /// A trigger that a ring waits for has come.
    case event

    /// Size in bytes.
    var cost: Int {
        switch self {
        case .unit(let unit): unit.count
        // Sound is little, and bounded by the number of items.
        case .sound, .stream, .event, .soundEnd: 0
        }
    }
}
