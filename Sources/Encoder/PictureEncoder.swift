import Bitstream
import CamPictures
import CamConversion

/// Encodes pictures to access units.
///
/// Call `encode` with a picture, then `nextAccessUnit` until it returns nil, and `drain` at the end. Encoders
/// of one recording may share a converted picture; `releasePicture` tells each encoder that all of them have
/// encoded it. Call everything from one thread, the encode thread.
public protocol PictureEncoder: AnyObject {
    /// Whether a call waits for a driver, which may never answer.
    var waitsForDriver: Bool { get }

    /// The limits that the stream's rate observes; nil if there is no promise.
    var ratePromise: RatePromise? { get }

    /// Which rates can be changed while the stream is coded.
    var rateChanges: RateChanges { get }

    /// Whether the camera's frame rate no longer matches the open session. A new session at the next keyframe
    /// would then hold the bit rate better.
    var wantsAnotherSession: Bool { get }

    /// Uses other rates from the next picture on, without a keyframe.
    /// - Returns: false if the change requires another session.
    func changeRates(to request: RateControlRequest) -> Bool

    /// Converts a picture to the encoder's input format. Call `encode` with the same picture next.
    /// - Parameter slot: the slot into which another thread may have converted it.
    func prepare(_ buffer: borrowing PixelBuffer, in slot: Int) throws(EncoderError)

    /// The thumbnail of the prepared picture before its treatment, or nil if thumbnails are off. Valid
    /// between `prepare` and `slot`.
    var thumbnail: LumaThumbnail? { get }

    /// Returns a slot in which another thread may convert the next picture while this one is encoded; nil if
    /// that would save no time. Call it after `prepare` and before `encode`.
    func slot(_ number: Int) -> ConversionSlot?

    /// Encodes a picture. Take every access unit first, by calling `nextAccessUnit` until it returns nil.
    /// - Parameter frameNumber: the picture's number in the recording.
    func encode(
        _ buffer: borrowing PixelBuffer, as kind: FrameKind, frameNumber: Int
    ) throws(EncoderError)

    /// Releases the picture, after every encoder has encoded or skipped it, and before its buffer is freed.
    func releasePicture()

    /// Releases all camera buffers and holds no more, because the encoder hangs or its output is unused.
    func giveBuffersBack()

    /// Returns the next coded picture in its final form; nil if none is ready.
    func nextAccessUnit() throws(EncoderError) -> AccessUnit?

    /// Ends the stream; `nextAccessUnit` then returns the pictures that the encoder held back.
    func drain() throws(EncoderError)
}

/// The rates that can change while a stream is coded. The average can always change, if necessary in another
/// session.
public struct RateChanges: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The average changes without a keyframe.
    public static let averageInPlace = RateChanges(rawValue: 1)
    /// The maximum can change.
    public static let maximum = RateChanges(rawValue: 2)
    /// The maximum changes without a keyframe.
    public static let maximumInPlace = RateChanges(rawValue: 4)
}

extension PictureEncoder {
    /// Prepares nothing by default.
    public func prepare(_ buffer: borrowing PixelBuffer, in slot: Int) throws(EncoderError) {}
    public func slot(_ number: Int) -> ConversionSlot? { nil }
    public var thumbnail: LumaThumbnail? { nil }
    public func giveBuffersBack() {}
    public var waitsForDriver: Bool { false }

    /// Nil by default: camrec does not control the rate of a camera's own stream.
    public var ratePromise: RatePromise? { nil }
    public var rateChanges: RateChanges { [] }
    public var wantsAnotherSession: Bool { false }
    public func changeRates(to request: RateControlRequest) -> Bool { false }
}

/// Passes a camera's own H.264 on without re-encoding, in the guaranteed shape.
///
/// The camera places keyframes; requests have no effect. Undecodable pictures, before the first IDR or after
/// a loss, are skipped up to the next IDR.
public final class PassthroughEncoder: PictureEncoder {
    private var finisher: StreamFinisher
    private var finished: AccessUnit?
    private var lastSequence: UInt32?

    /// Creates an encoder that waits for the camera's first IDR.
    /// - Parameter statesCaptureTime: whether each picture gets a message with its capture time.
    public init(statesCaptureTime: Bool = false) {
        finisher = StreamFinisher(
            codec: .h264, encoder: "the camera", slicesPerPicture: nil, amender: nil,
            statesCaptureTime: statesCaptureTime, skipsToFirstIDR: true)
    }

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
            // Another session would get the same bytes; the next IDR may be intact.
            finisher.expectIDR()
            throw EncoderError(.damagedPicture(error.description))
        }
        if finished == nil { throw EncoderError(.beforeIDR) }
    }

    public func releasePicture() {}

    public func nextAccessUnit() throws(EncoderError) -> AccessUnit? { finished.take() }

    public func drain() throws(EncoderError) {}
}
