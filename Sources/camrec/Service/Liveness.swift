import Recorder

/// Whether each of a recording's threads still does something.
///
/// A thread that stands still while it has nothing to do is alive: one that has work and finishes none of it since
/// the last look is not. One that looks for a camera which went away works.
struct Liveness {
    private var last: Progress?

    /// What the threads have done so far.
    private struct Progress {
        /// Frames that came, whatever became of them.
        let captured: Int
        /// Times that a source which went away was tried again.
        let tries: Int
        /// Frames that are through the encoders, whatever became of them.
        let encoded: Int
        /// Access units that are through the writers.
        let written: Int
    }

    /// To be asked at intervals in which a camera delivers at least one frame.
    mutating func isAlive(_ recording: Recording) -> Bool {
        let (capture, encoders) = (recording.counters, recording.encoderCounters)
        let now = Progress(
            captured: capture[.captured] + capture[.droppedByDriver], tries: capture[.sourceTries],
            encoded: capture[.paused] + capture[.corrupt]
                + encoders.reduce(0) {
                    $0 + $1[.encoded] + $1[.droppedByEncoder] + $1[.unused] + $1[.restarts]
                },
            written: recording.outputs.reduce(0) { $0 + $1.counters[.written] + $1.counters[.lost] })
        defer { last = now }
        guard let last else { return true }
        // Without pictures the other threads have nothing to do.
        if now.tries != last.tries { return true }
        return now.captured != last.captured && now.encoded != last.encoded
            && (now.written != last.written || !recording.hasUnwritten)
    }
}
