import Bitstream
import Pictures
import Threading

/// Opens a recording's encoders for one codec: the first one, and replacements for those that fail.
///
/// Used by one thread at a time: the one that starts the recording, then the encode thread.
public protocol EncoderProvider: AnyObject {
    /// The standard that its encoders code by.
    var codec: Codec { get }

    /// From one regular keyframe to the next.
    var keyframeInterval: KeyframeInterval { get }

    /// The encoder in use, and why not others; nil before the first `open`.
    var choice: EncoderChoice? { get }

    /// What the stream of the encoder in use says of itself.
    var stream: EncodedStream { get }

    /// Opens an encoder; the one before it must be gone, or given up.
    /// - Parameter watch: looks after the calls into a driver.
    func open(_ watch: CallWatch) throws(EncoderError) -> any PictureEncoder

    /// Changes the rate: in the open encoder if it can, otherwise in those opened
    /// from now on. A constant quantiser or quality makes way for an average, and so does a lower maximum; where no
    /// encoder takes the rate, the old one stays.
    /// - Returns: whether the open encoder continues; otherwise another must be opened.
    func change(_ change: RateChange) -> Bool

    /// Opens encoders for pictures of another format from now on.
    func follow(_ source: PictureFormat)

    /// Stops sharing state with open encoders: a thread hangs in one of them.
    func discardSharedState()

    /// Stops opening encoders that wait for a driver: they fail repeatedly.
    /// - Returns: false if there is no other, or none was in use.
    func giveUpDrivers() -> Bool
}
