import Capture

/// The clock of the pauses between restarts of a failing source or encoder. Tests put their own in place of the
/// system's.
protocol RestartClock: AnyObject {
    /// Monotonic nanoseconds.
    func now() -> Int64

    /// Waits until `deadline`, in monotonic nanoseconds.
    /// - Returns: true as soon as the recording is to end.
    func wait(until deadline: Int64) -> Bool
}

/// The end of a recording as its source sees it, while it waits for pictures and while it is away.
protocol SourceStop: RestartClock {
    /// From now on the wish to end interrupts this stream, in place of the one before.
    func attach(_ interrupter: CaptureInterrupter)
}
