import Capture
import Time

/// The clock of waits for a failing source or encoder.
protocol RestartClock: AnyObject, TimeSource {
    /// Waits until a moment.
    /// - Returns: true as soon as the recording is to end.
    func wait(until deadline: Instant) -> Bool
}

/// The end of a recording as its source sees it, while it waits for pictures and while it is away.
protocol SourceStop: RestartClock {
    /// From now on the wish to end interrupts this stream, in place of the one before.
    func attach(_ interrupter: CaptureInterrupter)
}
