import CamPlatform

/// Tracks a stream's bucket by capture time, across all sessions of its encoder.
///
/// Encoders count frames and assume that all frames have the same duration. If a camera slows down or loses
/// frames, they spend too few bits, and a new session does not know what the previous session spent. The
/// regulator therefore tracks the bucket by capture time and passes it on: to libx264 with each frame,
/// because libx264 accepts new rates while open; to other encoders when they open. Used by the encode thread.
final class RateRegulator {
    /// Nil if there is no limit to hold.
    private var bucket: LeakyBucket?
    /// The bucket's free room in bits; negative after an overflow.
    private var room: Double = 0
    private var latest: Instant?
    private var clock = FrameClock()
    /// The frame rate when the open session was set up.
    private var sessionRate: Double = 0
    /// The open session's view of the bucket; nil if the session accepts no changes.
    private var session: SessionBucket?

    /// The free share of the bucket at the beginning of a stream, as in libavcodec's encoders, and the
    /// maximum number of seconds of its rate. A short recording can exceed its average by that much.
    private static let firstRoom = 0.9
    /// How far nominal and measured rate may differ.
    private static let tolerance = 0.1

    /// Whether the camera is faster (1) or slower (-1) than the open session expects, and the number of
    /// consecutive measurements that say so.
    private var deviation = (sign: 0, count: 0)
    /// The number of such measurements that call for another session. It grows each time, because frames lost
    /// at random must not cause one session after another.
    private var patience = 1
    private static let mostPatience = 16

    /// The rates that a session opens with.
    struct Opening {
        /// Bits a second, by the session's own time.
        var rate: Double
        var size: Double
        /// Free bits at the beginning.
        var room: Double
        /// The factor from rates by capture time to rates by the session's time.
        var scale: Double
    }

    /// Returns the rates for a session that holds the model; nil if quality alone decides.
    /// - Parameters:
    ///   - nominalRate: the frame rate to tell the session.
    ///   - followsTime: whether the session's rates change with each frame; it then needs no scale.
    func opening(_ model: RateModel, nominalRate: Double, followsTime: Bool) -> Opening? {
        guard let bucket = model.bucket, let told = model.encoderBucket else { return nil }
        let (scale, lead) = followsTime ? (1, 0) : pace(nominalRate, leadLimit: told.size / told.rate / 2)
        // Bits spent by earlier sessions count if a bucket applied to them.
        let free = self.bucket == nil ? Self.firstRoom(of: bucket) : min(room, bucket.size)
        let size = told.size - told.rate * lead
        // A session must not begin with a full bucket.
        let start = min(size, max(size * 0.05, free - (bucket.size - size)))
        return Opening(rate: told.rate * scale, size: size, room: start, scale: scale)
    }

    private static func firstRoom(of bucket: LeakyBucket) -> Double {
        min(bucket.size, bucket.rate) * firstRoom
    }

    /// The ratio of actual to nominal frame duration, and the seconds by which the session's time then runs
    /// ahead of capture time. For frames in bursts, the scale stays below the mean ratio to leave the bucket
    /// room for the lead.
    private func pace(_ nominalRate: Double, leadLimit: Double) -> (scale: Double, lead: Double) {
        guard let measured = clock.rate, abs(measured / nominalRate - 1) > Self.tolerance else {
            return (1, 0)
        }
        let (wanted, steps) = (nominalRate / measured, 8.0)
        guard wanted > 1 else { return (wanted, 0) }
        for step in stride(from: steps, to: 0, by: -1) {
            let scale = 1 + (wanted - 1) * step / steps
            let lead = clock.lead(ifEachLasts: scale / nominalRate)
            if lead <= leadLimit { return (scale, lead) }
        }
        return (1, 0)
    }

    /// Begins a session that was just opened.
    /// - Parameter opening: the rates that the session was opened with; nil if quality alone decides.
    func begin(_ model: RateModel, nominalRate: Double, opening: Opening?, followsTime: Bool) {
        if bucket == nil { room = model.bucket.map(Self.firstRoom) ?? 0 }
        // libx264 holds the bucket and does not inherit the debt of an encoder that was only asked to hold
        // it.
        if session == nil, followsTime { room = max(room, 0) }
        bucket = model.bucket
        if wantsAnotherSession { patience = min(2 * patience, Self.mostPatience) }
        sessionRate = clock.rate ?? nominalRate
        deviation = (0, 0)
        session = nil
        if followsTime, let told = model.encoderBucket, let opening {
            session = SessionBucket(told, room: opening.room, framesPerSecond: nominalRate)
        }
    }

    /// Continues the open session with another bucket.
    func change(to model: RateModel) {
        bucket = model.bucket
        if let told = model.encoderBucket { session?.change(to: told) }
    }

    /// Accounts for the time until a frame that the encoder is about to get.
    /// - Parameter next: the capture time of the next frame to be coded: this frame, unless the encoder holds
    ///   back earlier ones.
    /// - Returns: the session's new rate in bits a second; nil if the rate stays.
    func frame(at timestamp: Instant, next: Instant) -> Int? {
        if clock.frame(at: timestamp) { measure() }
        guard let bucket else { return nil }
        var passed = 0.0
        if let latest, next > latest { passed = (next - latest).inSeconds }
        room = min(bucket.size, room + bucket.rate * passed)
        latest = max(latest ?? next, next)
        return session?.rate(toReach: room - bucket.size, after: passed)
    }

    /// Starts over for another source, or another nominal rate.
    func followAnotherSource() {
        clock = FrameClock()
        (deviation, patience) = ((0, 0), 1)
    }

    private func measure() {
        guard let measured = clock.rate, sessionRate > 0 else { return }
        let difference = measured / sessionRate - 1
        let sign = abs(difference) > Self.tolerance ? (difference > 0 ? 1 : -1) : 0
        deviation = (sign, sign == deviation.sign ? deviation.count + 1 : 1)
    }

    /// Accounts for a coded frame.
    func coded(bits: Int) {
        room -= Double(bits)
        session?.coded(bits: bits)
    }

    /// Whether a new session would suit the camera's rate better: for two seconds or more, the rate has
    /// differed from the rate that the open session expects.
    var wantsAnotherSession: Bool {
        bucket != nil && session == nil && deviation.sign != 0 && deviation.count >= patience
    }
}

/// An open libx264's view of its bucket: after each frame, libx264 subtracts the frame's bits and adds its
/// rate times the nominal frame duration. The regulator sets the rate so that this view follows the bucket by
/// capture time, one frame late.
private struct SessionBucket {
    private(set) var bucket: LeakyBucket
    private var room: Double
    /// The nominal frame duration, in the session's time.
    private let frameDuration: Double
    /// The session's rate in kbit/s, because libavcodec passes on no finer steps.
    private var rate: Int

    init(_ bucket: LeakyBucket, room: Double, framesPerSecond: Double) {
        self.bucket = bucket
        self.room = room
        frameDuration = 1 / framesPerSecond
        rate = Int(bucket.rate / 1000)
    }

    /// Follows a session that got another bucket.
    mutating func change(to bucket: LeakyBucket) {
        self.bucket = bucket
        rate = Int(bucket.rate / 1000)
    }

    /// - Parameters:
    ///   - level: the bucket's room minus its size: 0 for an empty bucket.
    ///   - passed: seconds since the last frame.
    /// - Returns: the session's new rate in bits a second; nil if the rate stays.
    mutating func rate(toReach level: Double, after passed: Double) -> Int? {
        let debt = bucket.size + level - room
        // The next frame adds its usual share, corrected by the accumulated difference.
        var wanted = bucket.rate + debt / frameDuration
        // An empty bucket cannot drain further, but libx264 still needs the rate, which also bounds the bits
        // of a frame.
        if level >= 0 { wanted = max(wanted, bucket.rate * passed / frameDuration) }
        // The rate stays positive, and below the point where libx264 gives one frame the whole buffer.
        let whole = bucket.size / frameDuration
        let bounded = min(max(wanted, bucket.rate / 20), max(whole / 5, min(bucket.rate * 1.5, whole / 1.2)))
        let thousands = Int(max(1, bounded / 1000))
        guard abs(thousands - rate) * 50 > rate else { return nil }
        rate = thousands
        return thousands * 1000
    }

    mutating func coded(bits: Int) {
        room = min(bucket.size, max(0, room - Double(bits)) + Double(rate) * 1000 * frameDuration)
    }
}

/// Measures the frame rate and its evenness, over two seconds at a time.
private struct FrameClock {
    /// Frames a second in the latest complete measurement; nil before the first.
    private(set) var rate: Double?
    /// The time of each frame within the latest complete measurement, in seconds; `nextOffsets` collects the
    /// running one.
    private var offsets: [Double] = []
    private var nextOffsets: [Double] = []
    private var start: Instant?
    private var latest = Instant.start
    private var count = 0

    private static let span = Duration.seconds(2)
    /// A longer gap is an outage or a pause and restarts the measurement.
    private static let longestGap = Duration.seconds(1)
    /// The maximum number of frames whose evenness is measured.
    private static let mostOffsets = 512

    init() {
        offsets.reserveCapacity(Self.mostOffsets)
        nextOffsets.reserveCapacity(Self.mostOffsets)
    }

    /// The maximum lead in seconds of a clock that advances by `duration` per frame.
    func lead(ifEachLasts duration: Double) -> Double {
        var (lead, latest, largest) = (0.0, 0.0, 0.0)
        for offset in offsets {
            lead = max(0, lead + duration - (offset - latest))
            latest = offset
            largest = max(largest, lead)
        }
        return largest
    }

    /// - Returns: whether a measurement is complete.
    mutating func frame(at timestamp: Instant) -> Bool {
        guard let start, timestamp > latest, timestamp - latest <= Self.longestGap else {
            (start, latest, count) = (timestamp, timestamp, 0)
            nextOffsets.removeAll(keepingCapacity: true)
            return false
        }
        latest = timestamp
        count += 1
        if nextOffsets.count < Self.mostOffsets { nextOffsets.append((timestamp - start).inSeconds) }
        guard timestamp - start >= Self.span else { return false }
        rate = Double(count) / (timestamp - start).inSeconds
        (self.start, count) = (timestamp, 0)
        swap(&offsets, &nextOffsets)
        nextOffsets.removeAll(keepingCapacity: true)
        return true
    }
}

/// The rates that a session opens with, and whether it accepts other rates while open.
struct SessionRates {
    /// Nil if quality alone decides.
    let opening: RateRegulator.Opening?
    /// True for libx264: no other encoder of libavcodec changes its rate while open.
    let followsTime: Bool

    init(_ properties: SessionProperties, _ regulator: RateRegulator, followsTime: Bool) {
        self.followsTime = followsTime
        opening = regulator.opening(
            properties.rateModel, nominalRate: properties.frameRate.framesPerSecond, followsTime: followsTime)
    }
}
