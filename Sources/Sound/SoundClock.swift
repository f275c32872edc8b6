import Time

/// Smooths the times at which samples are said to have been captured, and measures the rate of the clock that samples
/// them.
///
/// A delay-locked loop of second order (F. Adriaensen, "Using a DLL to filter time", 2005): times jitter by a
/// millisecond and more, because drivers notice samples late, but the clock that makes them is steady.
struct SoundClock {
    /// Samples a second that the microphone says.
    private let nominalRate: Double
    /// Seconds that a sample takes, as measured.
    private var period: Double
    /// When the samples so far ended, smoothed.
    private(set) var end: Instant?
    private var start: Instant?
    private var seconds = 0.0

    /// Times of oscillation in hertz: fast at first, then slow enough to ignore jitter.
    private static let (firstBandwidth, bandwidth) = (0.5, 0.05)
    private static let learningTime = 4.0
    /// Times that differ more from what was expected mean that samples are missing, or came twice.
    static let largestStep = Duration.milliseconds(60)

    init(rate: Int) {
        nominalRate = Double(rate)
        period = 1 / nominalRate
    }

    /// Whether a reading does not continue those before.
    func isInterrupted(by reading: SoundReading) -> Bool {
        guard let end else { return true }
        let expected = end + .nanoseconds(Int64(Double(reading.frames) * period * 1e9))
        return (reading.end - expected).magnitude > Self.largestStep
    }

    /// Takes the next reading, which continues those before.
    /// - Returns: when it ended, smoothed.
    mutating func take(_ reading: SoundReading) -> Instant {
        guard let before = end else {
            (end, start) = (reading.end, reading.end)
            return reading.end
        }
        let duration = Double(reading.frames) * period
        let expected = before + .nanoseconds(Int64(duration * 1e9))
        let error = (reading.end - expected).inSeconds
        seconds += duration
        let omega = 2 * Double.pi * (seconds < Self.learningTime ? Self.firstBandwidth : Self.bandwidth)
        // Of the time since the last reading, however long that was.
        let step = min(omega * duration, 0.5)
        let smoothed = expected + .nanoseconds(Int64(error * step * 1.414 * 1e9))
        period += error * step * step / Double(max(1, reading.frames))
        end = smoothed
        return smoothed
    }

    /// Forgets the times, because samples are missing; the rate stays.
    mutating func interrupt() { end = nil }

    /// How much faster the microphone's clock is than it says, times a million.
    var drift: Double { (1 / (period * nominalRate) - 1) * 1e6 }

    /// The samples a second, once they are known.
    var measuredRate: Double? { seconds < Self.learningTime / 2 ? nil : 1 / period }
}
