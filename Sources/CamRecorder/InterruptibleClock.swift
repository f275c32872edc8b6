import CamPlatform

/// A clock whose waits end as soon as the recording should end. Tests script it.
protocol InterruptibleClock: AnyObject, TimeSource {
    /// Waits until a deadline.
    /// - Returns: true as soon as the recording should end.
    func wait(until deadline: Instant) -> Bool
}
