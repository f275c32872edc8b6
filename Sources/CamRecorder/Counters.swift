import Synchronization

/// Counters that any thread may increment and read while a recording runs.
public final class Counters<Counter: CaseIterable & RawRepresentable<Int> & Sendable>: Sendable {
    private let cells = Counter.allCases.map { _ in Cell() }

    init() {}

    /// The current value.
    public subscript(_ counter: Counter) -> Int { cells[counter.rawValue].value.load(ordering: .relaxed) }

    func add(_ amount: Int = 1, to counter: Counter) {
        cells[counter.rawValue].value.wrappingAdd(amount, ordering: .relaxed)
    }

    private final class Cell: Sendable {
        let value = Atomic<Int>(0)
    }
}

/// Counters of a recording's source.
public enum CaptureCounter: Int, CaseIterable, Sendable {
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
    /// Pictures whose driver reported a wrong time of capture.
    case correctedTimes
}

/// Counters of an encoder. Captured frames, except those that are `corrupt`, `droppedByUs`, `paused` or
/// `notWanted`, add up to `droppedByEncoder` + `encoded` + `unused`.
public enum EncoderCounter: Int, CaseIterable, Sendable {
    /// Frames that went into the encoder and never came out.
    case droppedByEncoder
    /// Frames still waiting when the recording ended or the encoder failed for good, or before the first IDR
    /// of a camera's own H.264.
    case unused
    /// Access units that the encoder produced.
    case encoded
    /// Times a failing encoder was closed and reopened.
    case restarts
}

/// Counters of an output.
public enum OutputCounter: Int, CaseIterable, Sendable {
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
