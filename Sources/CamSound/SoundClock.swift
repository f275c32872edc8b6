import CamPlatform

/// Smooths the times at which samples are said to have been captured, and measures the drift of the clock that samples
/// them.
///
/// A delay-locked loop of second order (F. Adriaensen, "Using a DLL to filter time", 2005): times jitter by a
/// millisecond and more, because drivers notice samples late, but the clock that makes them is steady.
struct SoundClock {
    /// Seconds that a sample should take.
    private let nominalPeriod: Double
    /// Seconds that a sample takes, as measured.
    private var period: Double
    /// When the samples so far ended, smoothed; nil if they do not continue.
    private var end: Instant?
    /// Seconds of sound that it has seen.
    private var seconds = 0.0

    /// In hertz: fast at first, then slow enough to ignore jitter.
    private static let (firstBandwidth, bandwidth) = (0.5, 0.05)
    private static let learningTime = 4.0
    /// Times that differ more from what was expected mean that samples are missing, or came twice.
    private static let largestStep = Duration.milliseconds(60)

    /// - Parameter rate: samples a second, as far as it is known.
    init(rate: Double) {
        nominalPeriod = 1 / rate
        period = nominalPeriod
    }

    /// Takes the next reading.
    /// - Returns: when it ended, smoothed, and whether it continues those before.
    mutating func take(_ reading: SoundReading) -> (end: Instant, continues: Bool) {
        let duration = Double(reading.frames) * period
        let expected = end.map { $0 + .nanoseconds(Int64(duration * 1e9)) }
        guard let expected, (reading.end - expected).magnitude <= Self.largestStep else {
            end = reading.end
            return (reading.end, false)
        }
        let error = (reading.end - expected).inSeconds
        seconds += duration
        let omega = 2 * Double.pi * (seconds < Self.learningTime ? Self.firstBandwidth : Self.bandwidth)
        // Of the time since the last reading, however long that was.
        let step = min(omega * duration, 0.5)
        let smoothed = expected + .nanoseconds(Int64(error * step * 2.0.squareRoot() * 1e9))
        period += error * step * step / Double(max(1, reading.frames))
        end = smoothed
        return (smoothed, true)
    }

    /// How much faster the microphone's clock is than it should be, times a million; nil until that is known.
    var drift: Double? { seconds < 2 * Self.learningTime ? nil : (nominalPeriod / period - 1) * 1e6 }
}
