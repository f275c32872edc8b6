import Bitstream
import Capture

/// Takes a camera's own H.264 as it comes, in the guaranteed shape, without a second encoding.
///
/// Keyframes are the camera's: what is asked for has no effect. Pictures that cannot be decoded, because
/// they come before the first IDR or refer to one that was lost, are left out up to the next IDR.
public final class PassthroughEncoder: PictureEncoder {
    private var finisher = StreamFinisher(
        encoder: "the camera", slicesPerPicture: nil, amender: nil, skipsToFirstIDR: true)
    private var finished: AccessUnit?
    private var lastSequence: UInt32?
    private var skipped = 0

    /// Pictures to wait for an IDR: more than the keyframe interval of any camera that means to have one.
    private static let patience = 900

    /// A passthrough that waits for the camera's first IDR.
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
            // Another session would get the same bytes; another IDR may mend it.
            finisher.expectIDR()
            throw EncoderError(.damagedPicture(error.description))
        }
        guard finished == nil else {
            skipped = 0
            return
        }
        skipped += 1
        guard skipped < Self.patience else {
            throw EncoderError(
                .unsupported(
                    "the camera's H.264 had no usable IDR in \(skipped) pictures; record without --format h264"
                ))
        }
        throw EncoderError(.damagedPicture("nothing to decode it from before the next IDR"))
    }

    public func nextAccessUnit() throws(EncoderError) -> AccessUnit? { finished.take() }

    public func drain() throws(EncoderError) {}
}
