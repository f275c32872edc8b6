import Time

/// Whether each of a recording's threads still does something.
///
/// A thread that has work and finishes none of it since the last look is dead. One that looks for a camera which went
/// away works. Writers do not count: a disk that hangs is nothing that a restart mends, and what waits in their queues
/// would be lost with it; when those are full the encoders stand still. Nor does anything once all is encoded.
public struct Liveness {
    private let frameInterval: Duration
    private var last: (progress: Progress, time: Instant, wasAlive: Bool)?

    /// What the threads have done so far.
    struct Progress {
        /// Frames that came, whatever became of them.
        var captured = 0
        /// Times that a source which went away was tried again.
        var tries = 0
        /// Frames that are through the encoders, whatever became of them.
        var encoded = 0
        /// No more will come.
        var isEncoded = false
    }

    /// Nothing was looked at yet.
    /// - Parameter frameInterval: the time from a frame of the source to the next.
    public init(frameInterval: Duration) { self.frameInterval = frameInterval }

    /// The first look finds life. One before a frame can be expected finds what the last one did.
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
