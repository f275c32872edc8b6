import Time

/// Decides when outputs that make no progress are given up, so that a recording that is over always ends.
///
/// An output that hangs is first interrupted, which ends a wait for a pipe's reader, and then abandoned. Scripted
/// times are enough to test it: it never looks at a clock.
public struct OutputStall {
    /// What to do with outputs that are not done.
    public enum Step: Sendable, Hashable {
        case wait
        /// End waits that can be ended: a pipe has no reader.
        case interrupt
        /// Leave the writers behind that hang still.
        case abandon
    }

    /// How far the outputs are.
    public struct Progress: Sendable, Hashable {
        /// Access units written to all outputs.
        public var written: Int
        /// An output still has something to do.
        public var hasUnwritten: Bool
        /// Nothing more comes from the encoders.
        public var isEncoded: Bool

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

    /// The time without progress after somebody asked for the end.
    static let patience = Duration.seconds(5)
    /// The same for what still hangs after an interruption: less than systemd's TimeoutStopSec in the unit, more than
    /// a disk needs to spin up.
    static let lastPatience = Duration.seconds(15)
    /// The same where a recording ends by itself and nobody is there to end the wait.
    static let unattendedPatience = Duration.seconds(60)

    /// - Parameter isAttended: somebody watches, and can end a wait.
    public init(isAttended: Bool) { self.isAttended = isAttended }

    /// Somebody asked for the end.
    public mutating func stop() {
        isStopping = true
        begin(Self.patience)
    }

    /// Decides what to do now. To be called every few seconds.
    public mutating func step(_ progress: Progress, at now: Instant) -> Step {
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

extension OutputStall.Progress {
    /// A recording's, now.
    public init(_ recording: Recording) {
        self.init(
            written: recording.outputs.reduce(0) { $0 + $1.counters[.written] },
            hasUnwritten: recording.hasUnwritten, isEncoded: recording.isEncoded)
    }
}
