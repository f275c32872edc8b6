import CamPictures
import CamPlatform

/// Picks the frames of a time lapse by their capture time.
///
/// Frames are due on a grid that begins with the first frame. Late or lost frames do not move the grid, so it
/// does not drift in a long recording. The frame nearest to each moment is picked, or the next one if none is
/// near.
struct FramePicker {
    private let interval: Duration
    /// The first frame's time, and the next moment.
    private var grid: (start: Instant, due: Instant)?

    /// - Parameter interval: from one moment to the next; more than zero.
    init(every interval: Duration) { self.interval = max(.nanoseconds(1), interval) }

    /// Makes this the first frame, and starts the grid.
    mutating func begin(at time: Instant) { grid = (time, time + interval) }

    /// Returns whether a frame is due.
    /// - Parameters:
    ///   - time: when it was captured. If it is earlier than the last moment by more than an interval, the
    ///     camera's clock was set, and the grid starts again.
    ///   - frameDuration: the nominal time to the next frame.
    mutating func picks(frameAt time: Instant, frameDuration: Duration) -> Bool {
        guard let grid, grid.due - time <= interval * 2 else {
            begin(at: time)
            return true
        }
        let early = (grid.due - frameDuration / 2) - time
        guard early <= .zero else { return false }
        let missed = (Duration.zero - early).inNanoseconds / interval.inNanoseconds
        self.grid?.due += .nanoseconds(interval.inNanoseconds * (missed + 1))
        return true
    }

    /// The time since the first frame.
    func elapsed(at time: Instant) -> Duration { grid.map { time - $0.start } ?? .zero }
}

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
