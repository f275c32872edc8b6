import Time

extension TimeSource {
    /// Returns the wall-clock time of a capture time.
    ///
    /// A time that is far from now is that of another clock, as a file's: then the picture counts as captured now.
    func wallTime(ofCapture time: Instant) -> WallTime {
        let delay = now - time
        return (Duration.zero...longestDelay).contains(delay) ? wallTime - delay : wallTime
    }

    private var longestDelay: Duration { .seconds(120) }
}
