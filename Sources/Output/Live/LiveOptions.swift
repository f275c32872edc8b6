import Bitstream

/// How a live output serves its receivers.
public struct LiveOptions: Sendable, Hashable {
    /// The most receivers at a time, at least 1; an output that connects has one.
    public var mostReceivers = 16
    /// The most receivers from one address at a time; nil for half of all places.
    public var mostPerAddress: Int?
    /// How far a receiver may lag before it must wait for the next IDR.
    public var buffer = Buffer.time(.seconds(2))
    /// How long a receiver may stall before it is disconnected; at least a second.
    public var timeout = Duration.seconds(10)
    /// Where the descriptors begin that are not for receivers, because files and cameras need them.
    public var descriptorEnd = Int.max
    /// Whether a receiver gets what is still there from the latest IDR on, instead of what comes after it has joined: for
    /// a server, which knows each picture's time.
    var startsAtLatestKeyframe = false
    /// The interval between regular keyframes.
    var keyframeInterval = KeyframeInterval.frames(1)
    /// The nominal time between frames.
    var frameDuration = Duration.milliseconds(40)

    /// A limit on the data that waits to be sent.
    public enum Buffer: Sendable, Hashable {
        case time(Duration)
        case bytes(Int)
    }

    /// Sixteen receivers, two seconds of buffer, a timeout of ten.
    public init() {}

    /// Adopts a stream's frame rate and keyframe interval.
    /// - Parameter keyframeInterval: the interval between regular keyframes.
    public mutating func follow(_ stream: StreamDescription, keyframeInterval: KeyframeInterval) {
        frameDuration = stream.frameDuration
        self.keyframeInterval = keyframeInterval
    }
}
