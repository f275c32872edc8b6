import Bitstream
import Capture

/// Whatever makes access units of pictures.
///
/// Three verbs: `encode` a picture, take `nextAccessUnit` until there is none, and `drain` at the end. Encoders
/// of one recording may share a picture's converted form, so each is told by `releasePicture` when all of them
/// have encoded it. Everything is called from one thread, the encode thread.
public protocol PictureEncoder: AnyObject {
    /// Whether a call waits for a device, which may never answer.
    var waitsForHardware: Bool { get }

    /// Encodes a picture. Every access unit must have been taken before, by calling `nextAccessUnit` until it
    /// gives nil.
    /// - Parameter frameNumber: the picture's place in the recording.
    func encode(
        _ buffer: borrowing PixelBuffer, as kind: FrameKind, frameNumber: Int
    ) throws(EncoderError)

    /// Every encoder has encoded the picture, or never will: its buffer is about to be free again.
    func releasePicture()

    /// The next coded picture in its final form; nil where there is none ready.
    func nextAccessUnit() throws(EncoderError) -> AccessUnit?

    /// Says that no more pictures come; what is held back then comes from `nextAccessUnit`.
    func drain() throws(EncoderError)
}

extension PictureEncoder {
    /// Software does not.
    public var waitsForHardware: Bool { false }
}
