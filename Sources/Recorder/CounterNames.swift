/// What is counted of a recording's source.
public enum CaptureCounter: Int, CaseIterable, Sendable {
    /// Frames that the source delivered, damaged ones included.
    case captured
    /// Gaps in the driver's numbers.
    case droppedByDriver
    /// Of the captured: flagged, cut short, or not decodable.
    case corrupt
    /// Of the captured: given up, the oldest first, because the encoders were late.
    case droppedByUs
    /// Of those dropped by us: while an encoder hung or was reopened.
    case droppedInRestart
    /// Of those dropped by us: while an output's queue was full.
    case droppedForOutput
    /// Of the captured: given up during a pause.
    case paused
    /// Times that a source which had failed was to be started again or reopened.
    case sourceTries
    /// Of the tries, those after which it streamed.
    case sourceRestarts
    /// Milliseconds between the last picture before a restart and the first after it.
    case millisecondsLost
}

/// What is counted of an encoder. What the source delivered, without the corrupt, those dropped by us and those of a pause, is
/// `droppedByEncoder` + `encoded` + `unused`.
public enum EncoderCounter: Int, CaseIterable, Sendable {
    /// Frames given to the encoder and never seen again.
    case droppedByEncoder
    /// Frames still waiting when the recording ended or when its encoder had failed for good, or of a camera's
    /// own H.264 before an IDR.
    case unused
    /// Access units that the encoder made.
    case encoded
    /// Times that a failing encoder was closed and reopened.
    case restarts
}

/// What is counted of an output.
public enum OutputCounter: Int, CaseIterable, Sendable {
    /// Access units that were to be written.
    case accepted
    /// Access units written.
    case written
    /// Of the accepted: lost when writing failed, or hung.
    case lost
    /// Of the accepted: kept in memory, or let go from there because nothing happened.
    case passed
    /// Of the written: IDRs.
    case keyframes
    /// Bytes of access units written.
    case bytes
    /// Access units that had to wait for room in its queue.
    case waits
}
