import CamPlatform

/// Checks that each of a recording's threads makes progress.
///
/// A thread that had work but finished none of it since the last check is dead; searching for a camera that
/// disappeared counts as progress. Writers do not count: a restart does not cure a hung disk, and would lose
/// their queues; once those are full the encoders stop too. After everything is encoded, no thread counts.
package struct Liveness {
    private var capture: Advance
    private var encoding: Advance

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
        /// The camera is off, because there is no viewer.
        var isCameraOff = false
    }

    /// Creates a check without history.
    /// - Parameters:
    ///   - frameInterval: the time between two frames of the source.
    ///   - encodingInterval: the time between two frames that are encoded; nil if that is the same.
    package init(frameInterval: Duration, encodingInterval: Duration? = nil) {
        capture = Advance(interval: frameInterval)
        encoding = Advance(interval: max(frameInterval, encodingInterval ?? .zero))
    }

    /// Returns true at the first check. A check before a frame is due repeats the last result.
    package mutating func isAlive(_ recording: Recording, at time: Instant) -> Bool {
        isAlive(after: Progress(recording), at: time)
    }

    mutating func isAlive(after now: Progress, at time: Instant) -> Bool {
        // Without pictures the encoders have nothing to do.
        let isExcused = { (last: Progress) in
            now.tries != last.tries || now.isEncoded || now.isCameraOff || last.isCameraOff
        }
        let areCaptured = capture.isSeen(now, at: time) { $0.captured != now.captured || isExcused($0) }
        let areEncoded = encoding.isSeen(now, at: time) { $0.encoded != now.encoded || isExcused($0) }
        return areCaptured && areEncoded
    }

    /// Whether one thread has advanced since the last check.
    private struct Advance {
        /// The time in which the thread finishes something.
        let interval: Duration
        private var last: (progress: Progress, time: Instant, wasSeen: Bool)?

        init(interval: Duration) { self.interval = interval }

        /// - Parameter hasMoved: whether the thread has finished something since the given progress.
        mutating func isSeen(_ now: Progress, at time: Instant, hasMoved: (Progress) -> Bool) -> Bool {
            if let last, time - last.time < interval * 2 { return last.wasSeen }
            let isSeen = last.map { hasMoved($0.progress) } ?? true
            last = (now, time, isSeen)
            return isSeen
        }
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
        isCameraOff = recording.isCameraOff
    }
}
