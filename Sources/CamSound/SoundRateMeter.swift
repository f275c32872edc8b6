import CamPlatform

/// Measures how many samples a microphone really delivers in a second, of what it says and what it loses.
///
/// Two seconds are measured at a time. Lost samples and late times spoil measurements, but not three in the same way.
struct SoundRateMeter {
    private var start: Instant?
    private var frames = 0
    /// The latest measurements.
    private var rates: [Double] = []

    private static let window = Duration.seconds(2)
    private static let count = 3
    /// By which part the measurements may differ.
    private static let agreement = 0.005

    /// Takes the next reading.
    /// - Returns: the samples a second, when three measurements in a row agree.
    mutating func add(_ reading: SoundReading) -> Double? {
        guard let start else {
            start = reading.end
            return nil
        }
        frames += reading.frames
        let elapsed = reading.end - start
        guard elapsed >= Self.window else { return nil }
        if rates.count == Self.count { rates.removeFirst() }
        rates.append(Double(frames) / elapsed.inSeconds)
        (self.start, frames) = (reading.end, 0)
        guard rates.count == Self.count, let least = rates.min(), let most = rates.max(),
            most - least <= least * Self.agreement
        else { return nil }
        return rates.reduce(0, +) / Double(Self.count)
    }
}
