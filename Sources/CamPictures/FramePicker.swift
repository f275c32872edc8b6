import CamPlatform

/// Picks frames at a lower rate than the camera's, by their capture time: those of a time lapse, or of a rendition.
///
/// Frames are due on a grid that begins with the first frame. Late or lost frames do not move the grid, so it
/// does not drift in a long recording. The frame nearest to each moment is picked, or the next one if none is
/// near.
package struct FramePicker {
    private let interval: Duration
    /// The first frame's time, and the next moment.
    private var grid: (start: Instant, due: Instant)?

    /// - Parameter interval: from one moment to the next; more than zero.
    package init(every interval: Duration) { self.interval = max(.nanoseconds(1), interval) }

    /// Makes this the first frame, and starts the grid.
    package mutating func begin(at time: Instant) { grid = (time, time + interval) }

    /// Returns whether a frame is due.
    /// - Parameters:
    ///   - time: when it was captured. If it is earlier than the last moment by more than an interval, the
    ///     camera's clock was set, and the grid starts again.
    ///   - frameDuration: the nominal time to the next frame.
    package mutating func picks(frameAt time: Instant, frameDuration: Duration) -> Bool {
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
    package func elapsed(at time: Instant) -> Duration { grid.map { time - $0.start } ?? .zero }
}
