import Capture

/// The request to end a recording, for a source that waits for pictures or has disappeared.
protocol SourceStop: InterruptibleClock {
    /// Makes the request interrupt this stream from now on, instead of the previous one.
    func attach(_ interrupter: CaptureInterrupter)
}
