import Time

/// The clock for retrying a failed source or encoder.
protocol InterruptibleClock: AnyObject, TimeSource {
    /// Waits until a deadline.
    /// - Returns: true as soon as the recording should end.
    func wait(until deadline: Instant) -> Bool
}
