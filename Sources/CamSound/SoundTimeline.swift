import CamPlatform

/// Turns the readings of microphones into one stream of sound without gaps, on the clock of the pictures.
///
/// The sound card's clock runs some millionths faster or slower than the machine's clock; stretching the
/// samples accordingly is inaudible. Missing samples become silence of the same length, and repeated samples
/// are dropped. Used by one thread.
public final class SoundTimeline {
    /// The corrections so far.
    public private(set) var statistics = SoundStatistics()
    /// The measured sample rate of the microphone; nil if it matches the declared rate.
    public private(set) var falseRate: Int?

    private let encoder: SoundEncoder
    private let start: Instant
    private let deliver: (SoundPacket) -> Void
    private var input: Input?

    /// A microphone that is connected.
    private struct Input {
        let microphone: SoundFormat
        var resampler: SoundResampler
        var clock: SoundClock
        var meter = SoundRateMeter()
        /// Whether the next samples continue the sound so far.
        var isAligned = false
    }

    /// The largest deviation that counts as drift; a microphone with a larger one
    /// has another rate than it declares.
    private static let largestDrift = 0.01
    /// A larger difference in time would take too long to correct by stretching.
    private static let largestError = Duration.milliseconds(40)
    /// A longer silence becomes a jump in the packets' times, because a process may be stopped for hours.
    private static let longestSilence = Duration.seconds(10)
    /// The most frames converted at once: libswresample permanently allocates several times as many.
    private static let longestPiece = 256

    /// - Parameters:
    ///   - start: the capture time of the first sample.
    ///   - deliver: receives coded sound.
    public init(_ encoder: SoundEncoder, start: Instant, deliver: @escaping (SoundPacket) -> Void) {
        (self.encoder, self.start, self.deliver) = (encoder, start, deliver)
    }

    /// When the sound so far ends.
    public var end: Instant {
        start + encoder.format.duration(of: Int(encoder.count) + (input?.resampler.delay ?? 0))
    }

    /// Starts taking the samples of a microphone.
    public func connect(_ format: SoundFormat) throws(SoundError) {
        try disconnect()
        input = Input(
            microphone: format, resampler: try resampler(format, rate: format.rate),
            clock: SoundClock(rate: Double(format.rate)))
        falseRate = nil
    }

    /// Stops taking samples; silence follows until the next microphone.
    public func disconnect() throws(SoundError) {
        if let input { try push(nil, 0, through: input.resampler) }
        input = nil
    }

    /// Takes a reading of the connected microphone.
    /// - Parameter samples: all samples of the reading, interleaved.
    public func take(_ reading: SoundReading, _ samples: UnsafeBufferPointer<Int16>) throws(SoundError) {
        guard input != nil, let base = samples.baseAddress else { return }
        statistics.readings += 1
        try correctRate(reading)
        guard var input else { return }
        let (readingEnd, continues) = input.clock.take(reading)
        let format = input.resampler.input
        let begin = readingEnd - format.duration(of: reading.frames)
        if !continues || (begin - end).magnitude > Self.largestError { input.isAligned = false }
        self.input = input
        var excess = 0
        if !input.isAligned {
            try fillSilence(until: begin)
            excess = min(max(0, format.frames(in: end - begin)), reading.frames)
        }
        self.input?.isAligned = excess < reading.frames
        guard excess < reading.frames, let resampler = self.input?.resampler else { return }
        try push(base + excess * format.channels, reading.frames - excess, through: resampler)
        let drift = input.clock.drift
        statistics.drift = drift ?? statistics.drift
        resampler.stretch(
            by: (readingEnd - end).inSeconds * Double(encoder.format.rate), drift: drift ?? 0)
    }

    /// Adds silence up to a time.
    public func fillSilence(until time: Instant) throws(SoundError) {
        var missing = encoder.format.frames(in: time - end)
        guard missing > 0 else { return }
        statistics.silence += encoder.format.duration(of: missing)
        if let input {
            try push(nil, 0, through: input.resampler)
            // The drained resampler is replaced: it must not blend later samples with earlier ones.
            self.input?.resampler = try resampler(input.microphone, rate: input.resampler.input.rate)
            self.input?.isAligned = false
        }
        while missing > 0 {
            if missing > encoder.format.frames(in: Self.longestSilence), let jump = encoder.skip(missing) {
                missing -= jump
                continue
            }
            let (written, _) = try encoder.fill(
                start: start,
                { planes, room in
                    encoder.silence(in: &planes, frames: min(room, missing))
                }, deliver)
            missing -= written
        }
    }

    /// Sends samples through the resampler; nil drains the resampler.
    private func push(
        _ samples: UnsafePointer<Int16>?, _ frames: Int, through resampler: SoundResampler
    ) throws(SoundError) {
        var (rest, count) = (samples, frames)
        repeat {
            let piece = min(count, Self.longestPiece)
            try pushPiece(rest, piece, through: resampler)
            rest = rest.map { $0 + piece * resampler.input.channels }
            count -= piece
        } while count > 0
    }

    /// Sends a piece through the resampler, and encodes all of its output.
    private func pushPiece(
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
            // The resampler holds the rest.
            frames = 0
        }
    }

    /// Switches to the measured rate if a microphone's declared rate is wrong.
    private func correctRate(_ reading: SoundReading) throws(SoundError) {
        guard let measured = input?.meter.add(reading), let input else { return }
        let rate = Int(measured.rounded())
        guard abs(measured / Double(input.resampler.input.rate) - 1) > Self.largestDrift,
            Microphone.rates.contains(rate)
        else { return }
        let claimed = input.microphone.rate
        let isAsClaimed = abs(measured / Double(claimed) - 1) <= Self.largestDrift
        falseRate = isAsClaimed ? nil : rate
        statistics.falseRate = falseRate ?? statistics.falseRate
        try push(nil, 0, through: input.resampler)
        self.input?.resampler = try resampler(input.microphone, rate: isAsClaimed ? claimed : rate)
        self.input?.clock = SoundClock(rate: isAsClaimed ? Double(claimed) : measured)
    }

    private func resampler(_ microphone: SoundFormat, rate: Int) throws(SoundError) -> SoundResampler {
        try SoundResampler(
            SoundFormat(rate: rate, channels: microphone.channels), to: encoder.format, encoder.sampleFormat)
    }
}

/// Corrections to a recording's sound.
public struct SoundStatistics: Sendable, Hashable {
    /// How often a microphone delivered samples.
    public var readings = 0
    /// The silence that replaces missing samples.
    public var silence = Duration.zero
    /// How much faster than this machine's clock the latest microphone's clock
    /// is, in millionths; nil until known.
    public var drift: Double?
    /// The measured sample rate of the latest microphone that declared a wrong rate.
    public var falseRate: Int?

    /// None.
    public init() {}
}

// MARK: - The microphone's clock

/// Smooths the drivers' capture times of samples, and measures the drift of the sampling clock.
///
/// A delay-locked loop of second order (F. Adriaensen, "Using a DLL to filter time", 2005): times jitter by a
/// millisecond and more, because drivers notice samples late, but the clock that makes them is steady.
struct SoundClock {
    /// Seconds that a sample should take.
    private let nominalPeriod: Double
    /// Seconds that a sample takes, as measured.
    private var period: Double
    /// The smoothed end of the samples so far; nil before the first reading.
    private var end: Instant?
    /// The seconds of sound measured so far.
    private var seconds = 0.0

    /// The bandwidths of the loop in hertz: fast at first, then slow enough to ignore jitter.
    private static let (firstBandwidth, bandwidth) = (0.5, 0.05)
    private static let learningTime = 4.0
    /// A larger difference from the expected time means that samples are missing or were repeated.
    private static let largestStep = Duration.milliseconds(60)

    /// - Parameter rate: the best known sample rate.
    init(rate: Double) {
        nominalPeriod = 1 / rate
        period = nominalPeriod
    }

    /// Takes the next reading.
    /// - Returns: the smoothed end of the reading, and whether it continues the previous readings.
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
        // A long reading must not overcorrect.
        let step = min(omega * duration, 0.5)
        let smoothed = expected + .nanoseconds(Int64(error * step * 2.0.squareRoot() * 1e9))
        period += error * step * step / Double(max(1, reading.frames))
        end = smoothed
        return (smoothed, true)
    }

    /// How much faster than nominal the microphone's clock is, in millionths; nil until it is known.
    var drift: Double? { seconds < 2 * Self.learningTime ? nil : (nominalPeriod / period - 1) * 1e6 }
}

// MARK: - The microphone's rate

/// Measures the sample rate that a microphone really has, whatever rate it declares.
///
/// Each measurement takes two seconds. Lost samples and late timestamps spoil single measurements, but not
/// three in the same way.
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
    /// - Returns: the sample rate, once three measurements in a row agree.
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
