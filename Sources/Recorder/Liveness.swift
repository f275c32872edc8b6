/// Whether each of a recording's threads still does something.
///
/// A thread that stands still while it has nothing to do is alive: one that has work and finishes none of it since
/// the last look is not. One that looks for a camera which went away works.
public struct Liveness {
    private var last: Progress?

    /// What the threads have done so far.
    struct Progress {
        /// Frames that came, whatever became of them.
        var captured = 0
        /// Times that a source which went away was tried again.
        var tries = 0
        /// Frames that are through the encoders, whatever became of them.
        var encoded = 0
        /// Access units that are through the writers.
        var written = 0
        /// Access units wait to be written.
        var hasUnwritten = false
    }

    /// Nothing was looked at yet.
    public init() {}

    /// To be asked at intervals in which a camera delivers at least one frame. The first look finds life.
    public mutating func isAlive(_ recording: Recording) -> Bool { isAlive(after: Progress(recording)) }

    mutating func isAlive(after now: Progress) -> Bool {
        defer { last = now }
        guard let last else { return true }
        // Without pictures the other threads have nothing to do.
        if now.tries != last.tries { return true }
        return now.captured != last.captured && now.encoded != last.encoded
            && (now.written != last.written || !now.hasUnwritten)
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
        written = recording.outputs.reduce(0) { $0 + $1.counters[.written] + $1.counters[.lost] }
        hasUnwritten = recording.hasUnwritten
    }
}
