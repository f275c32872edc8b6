import Bitstream
import CamPictures
import CamPlatform

/// Opens a recording's encoders for one codec: the first one, and replacements for those that fail.
///
/// Used by one thread at a time: the one that starts the recording, then the encode thread.
public protocol EncoderProvider: AnyObject {
    /// The coding standard of its encoders.
    var codec: Codec { get }

    /// From one regular keyframe to the next.
    var keyframeInterval: KeyframeInterval { get }

    /// The encoder in use, and why others were passed over; nil before the first `open`.
    var choice: EncoderChoice? { get }

    /// The properties that the current encoder's stream declares.
    var stream: EncodedStream { get }

    /// Opens an encoder. The previous one must have been released or abandoned.
    /// - Parameter watch: monitors the calls into a driver.
    func open(_ watch: CallWatch) throws(EncoderError) -> any PictureEncoder

    /// Changes the rate: in the open encoder if it can, otherwise in those opened from now on. An average
    /// replaces a constant quantiser or quality, and a lower maximum. If no encoder accepts the rate, the old
    /// one stays.
    /// - Returns: whether the open encoder can continue; otherwise open another.
    func change(_ change: RateChange) -> Bool

    /// Opens encoders for pictures of another format from now on.
    func follow(_ source: PictureFormat)

    /// Notes that the open encoder failed or hung, before another is opened in its place.
    func noteFailure()

    /// Stops sharing state with open encoders, because a thread hangs in one of them.
    func discardSharedState()

    /// Stops opening encoders that wait for a driver: they fail repeatedly.
    /// - Returns: false if there is no other, or none was in use.
    func giveUpDrivers() -> Bool
}

extension EncoderProvider {
    /// Learns nothing from it by default.
    public func noteFailure() {}
}
