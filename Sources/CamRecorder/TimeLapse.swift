import CamPictures
import CamPlatform

/// A recording that plays faster than it was captured.
package struct TimeLapse: Sendable, Hashable {
    /// The capture time from one recorded frame to the next.
    package let interval: Duration
    /// Frames a second when it is played.
    package let playbackRate: FrameRate

    /// - Parameter interval: more than zero.
    package init(every interval: Duration, playbackRate: FrameRate) {
        (self.interval, self.playbackRate) = (interval, playbackRate)
    }
}
