import Bitstream
import NIOCore
import CamPlatform

/// The binary message with a picture: a header of 12 bytes, then the access unit as Annex B.
///
/// | bytes | content |
/// |---|---|
/// | 0 | version, 1 |
/// | 1 | flags: 1 for a keyframe |
/// | 2, 3 | reserved, 0 |
/// | 4 … 11 | when it arrived, in microseconds of the monotonic clock, big-endian |
///
/// A text message precedes the keyframe of a new format, so that no flag is needed for that.
enum LiveMessage {
    static let version: UInt8 = 1
    static let headerByteCount = 12

    private static let keyframeFlag: UInt8 = 1

    /// Copies an access unit into a message.
    static func picture(_ unit: AccessUnit) -> LivePicture {
        LivePicture(form: .messages, bytes: bytes(unit), isKeyframe: unit.isIDR)
    }

    private static func bytes(_ unit: AccessUnit) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: headerByteCount + unit.count)
        buffer.writeInteger(version)
        buffer.writeInteger(unit.isIDR ? keyframeFlag : 0)
        buffer.writeInteger(UInt16(0))
        buffer.writeInteger(unit.timestamp.nanoseconds / 1000)
        _ = unit.withUnsafeBytes { buffer.writeBytes($0) }
        return buffer
    }
}
