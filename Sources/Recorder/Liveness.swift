import Time

/// Checks that each of a recording's threads makes progress.
///
/// A thread that had work but finished none of it since the last check is dead; searching for a camera that
/// disappeared counts as progress. Writers do not count: a restart does not cure a hung disk, and would lose
/// their queues; once those are full the encoders stop too. After everything is encoded, no thread counts.
public struct Liveness {
    private let frameInterval: Duration
    private var last: (progress: Progress, time: Instant, wasAlive: Bool)?

    /// The threads' progress so far.
    struct Progress {
        /// Frames captured or dropped by the driver.
        var captured = 0
        /// Attempts to restart a source that disappeared.
        var tries = 0
        /// Frames that have passed the encoders, encoded or not.
        var encoded = 0
        /// Everything is encoded.
        var isEncoded = false
    }

    /// Creates a check without history.
    /// - Parameter frameInterval: the time between two frames of the source.
    public init(frameInterval: Duration) { self.frameInterval = frameInterval }

    /// Returns true at the first check. A check before a frame is due repeats the last result.
    public mutating func isAlive(_ recording: Recording, at time: Instant) -> Bool {
        isAlive(after: Progress(recording), at: time)
    }

    mutating func isAlive(after now: Progress, at time: Instant) -> Bool {
        if let last, time - last.time < frameInterval * 2 { return last.wasAlive }
        let isAlive = hasMoved(to: now)
        last = (now, time, isAlive)
        return isAlive
    }

    private func hasMoved(to now: Progress) -> Bool {
        guard let last = last?.progress else { return true }
        // Without pictures the encoders have nothing to do.
        if now.tries != last.tries || now.isEncoded { return true }
        return now.captured != last.captured && now.encoded != last.encoded
    }
}

extension Liveness.Progress {
    fileprivate init(_ recording: Recording) {
        let (capture, encoders) = (recording.counters, recording.encoderCounters)
        captured = capture[.captured] + capture[.droppedByDriver]
        tries = capture[.sourceTries]
        encoded = capture[.paused] + capture[.corrupt]
        for encoder in encoders {
            encoded += encoder[.encoded] + encoder[.droppedByEncoder] + encoder[.unused] + encoder[.restarts]
        }
        isEncoded = recording.isEncoded
    }
}
