import Bitstream
import CamPictures

/// Passes a camera's own H.264 on without re-encoding, brought into the guaranteed shape.
///
/// The camera decides about keyframes: requests have no effect. Pictures that cannot be decoded, because
/// they come before the first IDR or refer to one that was lost, are left out up to the next IDR.
public final class PassthroughEncoder: PictureEncoder {
    private var finisher = StreamFinisher(
        codec: .h264, encoder: "the camera", slicesPerPicture: nil, amender: nil, skipsToFirstIDR: true)
    private var finished: AccessUnit?
    private var lastSequence: UInt32?

    /// Creates an encoder that waits for the camera's first IDR.
    public init() {}

    public func encode(
        _ buffer: borrowing PixelBuffer, as kind: FrameKind, frameNumber: Int
    ) throws(EncoderError) {
        if let lastSequence, buffer.sequence != lastSequence &+ 1 { finisher.expectIDR() }
        lastSequence = buffer.sequence
        let frame = PendingFrames.Frame(
            number: frameNumber, timestamp: buffer.timestamp, sequence: buffer.sequence, isIDRWanted: false)
        do {
            finished = try finisher.finish(buffer.payload, frame)
        } catch {
            // Another session would get the same bytes; the next IDR may fix it.
            finisher.expectIDR()
            throw EncoderError(.damagedPicture(error.description))
        }
        if finished == nil { throw EncoderError(.beforeIDR) }
    }

    public func releasePicture() {}

    public func nextAccessUnit() throws(EncoderError) -> AccessUnit? { finished.take() }

    public func drain() throws(EncoderError) {}
}
