import CamPlatform

/// Decides when to give up outputs that make no progress, so that a recording always ends.
///
/// A hung output is first interrupted, which ends a wait for a pipe's reader, and then abandoned. It never
/// reads a clock, so tests can script the times.
package struct ShutdownPatience {
    /// What to do with unfinished outputs.
    package enum Step: Sendable, Hashable {
        case wait
        /// End waits that can be ended, such as for a pipe's reader.
        case interrupt
        /// Abandon the writers that still hang.
        case abandon
    }

    /// The outputs' progress.
    package struct Progress: Sendable, Hashable {
        /// Access units written to all outputs.
        package var written: Int
        /// Whether an output still has something to write.
        package var hasUnwritten: Bool
        /// Whether the encoders are done.
        package var isEncoded: Bool

        init(written: Int, hasUnwritten: Bool, isEncoded: Bool) {
            self.written = written
            self.hasUnwritten = hasUnwritten
            self.isEncoded = isEncoded
        }
    }

    private let isAttended: Bool
    private var patience = Self.unattendedPatience
    private var isStopping = false
    private var isInterrupted = false
    private var last: (written: Int, time: Instant)?

    /// The longest time without progress after a request to stop.
    static let patience = Duration.seconds(5)
    /// The longest time after a cancellation: less than systemd's TimeoutStopSec in the unit, more than a
    /// disk needs to spin up.
    static let lastPatience = Duration.seconds(15)
    /// The longest time if an unattended recording ends by itself.
    static let unattendedPatience = Duration.seconds(60)

    /// - Parameter isAttended: whether a user is present and can end a wait.
    package init(isAttended: Bool) { self.isAttended = isAttended }

    /// Records a request to stop.
    package mutating func stop() {
        isStopping = true
        begin(Self.patience)
    }

    /// Returns what to do now. Call it every few seconds.
    package mutating func step(_ progress: Progress, at now: Instant) -> Step {
        guard isStopping || (progress.isEncoded && !isAttended) else { return .wait }
        guard let last, last.written == progress.written, progress.hasUnwritten else {
            last = (progress.written, now)
            return .wait
        }
        guard now - last.time >= patience else { return .wait }
        defer { begin(Self.lastPatience) }
        if isInterrupted { return .abandon }
        isInterrupted = true
        return .interrupt
    }

    private mutating func begin(_ patience: Duration) {
        self.patience = patience
        last = nil
    }
}

extension ShutdownPatience.Progress {
    /// Reads a recording's current progress.
    package init(_ recording: Recording) {
        self.init(
            written: recording.outputs.reduce(0) { $0 + $1.counters[.written] },
            hasUnwritten: recording.hasUnwritten, isEncoded: recording.isEncoded)
    }
}
