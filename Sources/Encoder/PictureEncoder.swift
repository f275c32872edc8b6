import Bitstream
import CamPictures

/// Encodes pictures to access units.
///
/// `encode` a picture, take `nextAccessUnit` until there is none, and `drain` at the end. Encoders of one
/// recording may share a picture's converted form, so `releasePicture` tells each when all of them have
/// encoded it. Everything is called from one thread, the encode thread.
public protocol PictureEncoder: AnyObject {
    /// Whether a call waits for a driver, which may never answer.
    var waitsForDriver: Bool { get }

    /// The limits that the stream's rate observes; nil if nothing can be promised.
    var ratePromise: RatePromise? { get }

    /// Which rates can be changed while the stream is coded.
    var rateChanges: RateChanges { get }

    /// Whether the camera's frame rate no longer matches the open session, so that a new session at the next
    /// keyframe would hold the bit rate better.
    var wantsAnotherSession: Bool { get }

    /// Uses other rates from the next picture on, without a keyframe.
    /// - Returns: false if that requires another session.
    func changeRates(to request: RateControlRequest) -> Bool

    /// Brings a picture into the form that the encoder takes; `encode` with the same picture follows.
    /// - Parameter slot: the slot into which another thread may have converted it.
    func prepare(_ buffer: borrowing PixelBuffer, in slot: Int) throws(EncoderError)

    /// A small luma picture of the prepared picture as the source has it; nil if none are made. Valid between `prepare`
    /// and `slot`.
    var thumbnail: LumaThumbnail? { get }

    /// Returns a slot in which another thread may convert the next picture while this one is encoded; nil if
    /// that would bring nothing. Called after `prepare` and before `encode`.
    func slot(_ number: Int) -> ConversionSlot?

    /// Encodes a picture. Every access unit must have been taken before, by calling `nextAccessUnit` until it
    /// gives nil.
    /// - Parameter frameNumber: the picture's place in the recording.
    func encode(
        _ buffer: borrowing PixelBuffer, as kind: FrameKind, frameNumber: Int
    ) throws(EncoderError)

    /// Called when every encoder has encoded the picture, or never will, before its buffer is freed.
    func releasePicture()

    /// Gives back what it holds of a camera's buffers, and holds none any more: it hangs, or nobody uses what it codes.
    func giveBuffersBack()

    /// The next coded picture in its final form; nil if there is none ready.
    func nextAccessUnit() throws(EncoderError) -> AccessUnit?

    /// Signals that no more pictures follow; `nextAccessUnit` then returns what is held back.
    func drain() throws(EncoderError)
}

/// Which rates of a stream can be changed while it is coded. Its average always can, if necessary in another
/// session.
public struct RateChanges: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The average changes without a keyframe.
    public static let averageInPlace = RateChanges(rawValue: 1)
    /// There is a maximum, which can be changed.
    public static let maximum = RateChanges(rawValue: 2)
    /// It changes without a keyframe.
    public static let maximumInPlace = RateChanges(rawValue: 4)
}

extension PictureEncoder {
    /// Prepares nothing by default.
    public func prepare(_ buffer: borrowing PixelBuffer, in slot: Int) throws(EncoderError) {}
    public func slot(_ number: Int) -> ConversionSlot? { nil }
    public var thumbnail: LumaThumbnail? { nil }
    public func giveBuffersBack() {}
    public var waitsForDriver: Bool { false }

    /// Nil by default: the rate of a camera's own stream is not camrec's to choose.
    public var ratePromise: RatePromise? { nil }
    public var rateChanges: RateChanges { [] }
    public var wantsAnotherSession: Bool { false }
    public func changeRates(to request: RateControlRequest) -> Bool { false }
}

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
