import Bitstream
import CamSound

/// A piece of a recording, in the order in which it is written.
public enum StreamItem: Sendable {
    case picture(AccessUnit)
    case sound(SoundPacket)

    /// The picture; nil if it is sound.
    var picture: AccessUnit? {
        if case .picture(let unit) = self { unit } else { nil }
    }

    /// The number of bytes.
    var count: Int {
        switch self {
        case .picture(let unit): unit.count
        case .sound(let packet): packet.count
        }
    }
}
