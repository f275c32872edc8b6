import Bitstream

/// How a live output treats its receivers.
public struct LiveOptions: Sendable, Hashable {
    /// Receivers at a time, at least 1; an output that connects has one.
    public var mostReceivers = 16
    /// Receivers of one address at a time; nil: half of all places.
    public var mostPerAddress: Int?
    /// How far a receiver may lag before it must wait for the next IDR.
    public var buffer = Buffer.seconds(2)
    /// Seconds that a receiver may take nothing before it is closed; at least 1.
    public var timeout = 10
    /// From one regular keyframe to the next.
    var keyframeInterval = KeyframeInterval.frames(1)
    /// From one frame to the next, nominally.
    var frameDuration = Duration.milliseconds(40)

    /// A bound on what waits to be sent.
    public enum Buffer: Sendable, Hashable {
        case seconds(Double)
        case bytes(Int)
    }

    /// Sixteen receivers, two seconds of buffer, ten of patience.
    public init() {}

    /// Takes over when a stream's keyframes come.
    /// - Parameter keyframeInterval: from one regular keyframe to the next.
    public mutating func follow(_ stream: StreamDescription, keyframeInterval: KeyframeInterval) {
        frameDuration = stream.frameDuration
        self.keyframeInterval = keyframeInterval
    }
}
