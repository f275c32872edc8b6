/// The pauses between a failing encoder's restarts. Tests put their own clock in place of the system's.
protocol RestartPauses: AnyObject {
    /// Monotonic nanoseconds.
    func now() -> Int64

    /// Waits until `deadline`, in monotonic nanoseconds.
    /// - Returns: true as soon as the recording is to end.
    func wait(until deadline: Int64) -> Bool
}
