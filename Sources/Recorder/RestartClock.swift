import Capture
import Time

/// The clock for retrying a failed source or encoder.
protocol RestartClock: AnyObject, TimeSource {
    /// Waits until a deadline.
    /// - Returns: true as soon as the recording should end.
    func wait(until deadline: Instant) -> Bool
}

/// The request to end a recording, for a source that waits for pictures or is away.
protocol SourceStop: RestartClock {
    /// Makes the request interrupt this stream from now on, instead of the previous one.
    func attach(_ interrupter: CaptureInterrupter)
}
