import CamPictures

/// A recording that plays faster than it was captured.
public struct TimeLapse: Sendable, Hashable {
    /// The capture time from one recorded frame to the next.
    public let interval: Duration
    /// Frames a second when it is played.
    public let playbackRate: FrameRate

    /// - Parameter interval: more than zero.
    public init(every interval: Duration, playbackRate: FrameRate) {
        (self.interval, self.playbackRate) = (interval, playbackRate)
    }
}
