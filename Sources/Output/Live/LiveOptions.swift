/// How a live output treats its receivers.
public struct LiveOptions: Sendable, Hashable {
    /// Receivers at a time, at least 1; one that connects out has one.
    public var mostReceivers = 16
    /// What a receiver may be behind before it is dropped to the next IDR.
    public var buffer = Buffer.seconds(2)
    /// Seconds that a receiver may take nothing before it is closed; at least 1.
    public var timeout = 10
    /// Frames from one regular keyframe to the next, at least 1.
    public var keyframeInterval = 1
    /// Nanoseconds from one frame to the next, nominally.
    public var frameDuration: Int64 = 40_000_000

    /// A bound on what waits to be sent.
    public enum Buffer: Sendable, Hashable {
        case seconds(Double)
        case bytes(Int)
    }

    /// Sixteen receivers, two seconds of buffer, ten of patience.
    public init() {}
}
