import Time

/// Makes one stream of sound without gaps out of what microphones deliver, on the clock of the pictures.
///
/// The sound card's clock runs faster or slower than the machine's: the samples are stretched by as much, some millionths,
/// which nobody hears. What is missing becomes silence of the same length, and what comes twice is left out. Used by one
/// thread.
public final class SoundTimeline {
    /// What has been done to the sound.
    public private(set) var statistics = SoundStatistics()

    private let encoder: SoundEncoder
    private let start: Instant
    private let deliver: (SoundPacket) -> Void
    private var resampler: SoundResampler?
    private var microphone: SoundFormat?
    private var clock: SoundClock?
    /// Whether what the microphone delivers continues the sound so far.
    private var isAligned = false
    /// Whether the microphone's rate is what it says.
    private var isRateKnown = false

    /// A microphone whose rate differs by more from what it says is not adrift: the rate is another one.
    private static let largestDrift = 2000.0
    /// A difference in time that would take too long to make up for by stretching.
    private static let largestError = Duration.milliseconds(40)

    /// - Parameters:
    ///   - start: when its first sample is captured.
    ///   - deliver: takes coded sound.
    public init(_ encoder: SoundEncoder, start: Instant, deliver: @escaping (SoundPacket) -> Void) {
        (self.encoder, self.start, self.deliver) = (encoder, start, deliver)
    }

    /// When the sound so far ends.
    public var end: Instant {
        start + encoder.format.duration(of: Int(encoder.count) + (resampler?.delay ?? 0))
    }

    /// Begins with a microphone.
    public func connect(_ format: SoundFormat) throws(SoundError) {
        try disconnect()
        resampler = try SoundResampler(format, to: encoder.format, encoder.sampleFormat)
        (microphone, clock, isRateKnown, isAligned) = (format, SoundClock(rate: format.rate), false, false)
    }

    /// Ends with a microphone: what follows is silence.
    public func disconnect() throws(SoundError) {
        if let resampler { try push(nil, 0, through: resampler) }
        (resampler, clock) = (nil, nil)
    }

    /// Takes what a microphone has delivered.
    /// - Parameter samples: interleaved; all of the reading's.
    public func take(_ reading: SoundReading, _ samples: UnsafeBufferPointer<Int16>) throws(SoundError) {
        guard var clock, let format = resampler?.input, let base = samples.baseAddress else { return }
        statistics.readings += 1
        if clock.isInterrupted(by: reading) {
            clock.interrupt()
            isAligned = false
        }
        let readingEnd = clock.take(reading)
        self.clock = clock
        let begin = readingEnd - format.duration(of: reading.frames)
        if (begin - end).magnitude > Self.largestError { isAligned = false }
        var excess = 0
        if !isAligned {
            try fillSilence(until: begin)
            excess = min(max(0, format.frames(in: end - begin)), reading.frames)
            isAligned = excess < reading.frames
        }
        guard isAligned, let resampler else { return }
        try push(base + excess * format.channels, reading.frames - excess, through: resampler)
        try follow(readingEnd, resampler)
    }

    /// Adds silence for what is missing up to a time.
    public func fillSilence(until time: Instant) throws(SoundError) {
        var missing = encoder.format.frames(in: time - end)
        guard missing > 0 else { return }
        statistics.silence += encoder.format.duration(of: missing)
        if let resampler { try push(nil, 0, through: resampler) }
        while missing > 0 {
            let (written, _) = try encoder.fill(
                start: start,
                { planes, room in
                    encoder.silence(in: &planes, frames: min(room, missing))
                }, deliver)
            missing -= written
        }
        isAligned = false
        // Its samples before the silence are gone.
        if let resampler {
            self.resampler = try SoundResampler(resampler.input, to: encoder.format, encoder.sampleFormat)
        }
    }

    /// Sends samples through the resampler; nil for what is still inside.
    private func push(
        _ samples: UnsafePointer<Int16>?, _ frames: Int, through resampler: SoundResampler
    ) throws(SoundError) {
        var frames = frames
        var isFull = true
        while isFull {
            let (written, room) = try encoder.fill(
                start: start,
                { planes, room in
                    resampler.convert(samples, frames: frames, into: &planes, room: room)
                }, deliver)
            isFull = written == room
            // The rest is inside.
            frames = 0
        }
    }

    /// Stretches what follows so that the sound ends when the microphone says it does.
    private func follow(_ readingEnd: Instant, _ resampler: SoundResampler) throws(SoundError) {
        guard let clock, let microphone else { return }
        if !isRateKnown, let rate = clock.measuredRate {
            isRateKnown = true
            if abs(clock.drift) > Self.largestDrift {
                statistics.falseRate = Int(rate.rounded())
                try push(nil, 0, through: resampler)
                self.resampler = try SoundResampler(
                    microphone, rate: Int(rate.rounded()), to: encoder.format, encoder.sampleFormat)
            }
        }
        if isRateKnown { statistics.drift = clock.drift }
        self.resampler?.stretch(by: (readingEnd - end).inSeconds * Double(encoder.format.rate))
    }
}

/// What has been done to a recording's sound.
public struct SoundStatistics: Sendable, Hashable {
    /// How often a microphone delivered samples.
    public var readings = 0
    /// How much silence there is in place of what was missing.
    public var silence = Duration.zero
    /// How much faster the microphone's clock is than this machine's, times a million; nil until it is known.
    public var drift: Double?
    /// The samples a second that came, where they are not those that the microphone says.
    public var falseRate: Int?

    /// None.
    public init() {}
}
