/// Counters of a recording's source.
package enum CaptureCounter: Int, CaseIterable, Sendable {
    /// Frames that the source delivered, including damaged ones.
    case captured
    /// Gaps in the driver's sequence numbers.
    case droppedByDriver
    /// Captured frames that were flagged as damaged, truncated, or not decodable.
    case corrupt
    /// Captured frames that were dropped, oldest first, because the encoders were late.
    case droppedByUs
    /// Frames of `droppedByUs`: while an encoder hung or was reopened.
    case droppedInRestart
    /// Frames of `droppedByUs`: while an output's queue was full.
    case droppedForOutput
    /// Frames of `droppedByUs`: they all arrived right after a standstill of the process or the machine.
    case droppedAfterStandstill
    /// Captured frames that were dropped during a pause.
    case paused
    /// Captured frames that a time lapse skipped.
    case notWanted
    /// Attempts to restart or reopen a failed source.
    case sourceTries
    /// Attempts after which the source streamed.
    case sourceRestarts
    /// Milliseconds from the last picture before a restart to the first after it.
    case millisecondsLost
    /// Milliseconds of `millisecondsLost` from the last picture to the end, if the source was away at the
    /// end.
    case millisecondsAwayAtEnd
    /// Times without pictures, for any reason: a failed source, or a standstill and its consequences.
    case outages
    /// Times in which the process or the machine stood still.
    case standstills
    case millisecondsStopped
    case millisecondsSuspended
    /// Times that a camera, which is on only while somebody watches, was turned on.
    case turnedOn
    /// Milliseconds in which it was off.
    case millisecondsOff
    /// Pictures whose driver reported a wrong time of capture.
    case correctedTimes
}

/// Counters of an output.
package enum OutputCounter: Int, CaseIterable, Sendable {
    /// Access units sent to the output.
    case accepted
    /// Access units written.
    case written
    /// Accepted access units that were lost because writing failed or hung.
    case lost
    /// Accepted access units that are in the ring, or left it unwritten because no trigger came.
    case passed
    /// Written access units that are IDRs.
    case keyframes
    /// Bytes of written access units.
    case bytes
    /// Access units that had to wait for room in the queue.
    case waits
}
