import CamPlatform

/// Where sound comes from. Used by one thread.
public protocol SoundSource: AnyObject {
    /// The name in messages.
    var name: String { get }

    /// How it is sampled, by its own clock.
    var format: SoundFormat { get }

    /// How often the source has lost samples because they were not read in time.
    var overruns: Int { get }

    /// Reads interleaved samples, and waits for some until a deadline.
    /// - Parameter room: for whole frames of all the channels that the device has.
    /// - Returns: what was read; nil if nothing came, which may be noticed before the deadline.
    func read(
        into room: UnsafeMutableBufferPointer<Int16>, until deadline: Instant
    ) throws(SoundError) -> SoundReading?
}

/// Frames that were read at once.
public struct SoundReading: Sendable, Hashable {
    /// How many.
    public var frames: Int
    /// When the last of them ended, on the monotonic clock.
    public var end: Instant

    /// Creates a reading.
    public init(frames: Int, end: Instant) { (self.frames, self.end) = (frames, end) }

    /// How long they last at a rate.
    public func duration(at rate: Int) -> Duration {
        SoundFormat(rate: rate, channels: 1).duration(of: frames)
    }
}
