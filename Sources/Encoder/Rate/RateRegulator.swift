import CamPlatform

/// Tracks a stream's bucket by capture time, across all sessions of its encoder.
///
/// Encoders count frames and assume that all last equally long. If a camera slows down or frames are lost,
/// that gives too few bits; and a new session does not know what the previous one spent. So the bucket is
/// tracked here, by capture time, and passed on: to libx264 with each frame, because it accepts new rates
/// while open; to others when they are opened. Used by the encode thread.
final class RateRegulator {
    /// Nil if there is no limit to hold.
    private var bucket: LeakyBucket?
    /// The bucket's free room in bits, below zero if it has overflowed.
    private var room: Double = 0
    private var latest: Instant?
    private var clock = FrameClock()
    /// The frame rate when the open session was set up.
    private var sessionRate: Double = 0
    /// The open session's own idea of the bucket; nil if it accepts no changes.
    private var session: SessionBucket?

    /// A stream begins with this share of its bucket free, like libavcodec's encoders, and with at most this
    /// many seconds of its rate: a short recording can exceed its average by that much.
    private static let firstRoom = 0.9
    /// How far nominal and measured rate may differ.
    private static let tolerance = 0.1

    /// Whether the camera is faster (1) or slower (-1) than the open session was set up for, and for how many
    /// measurements in a row.
    private var deviation = (sign: 0, count: 0)
    /// How many such measurements call for another session: more each time, so that frames lost at random do
    /// not call for one again and again.
    private var patience = 1
    private static let mostPatience = 16

    /// How to open a session.
    struct Opening {
        /// Bits a second, by the session's own time.
        var rate: Double
        var size: Double
        /// Bits free at the beginning.
        var room: Double
        /// The factor from rates by capture time to rates by the session's time.
        var scale: Double
    }

    /// How to open a session that holds the model.
    /// - Parameters:
    ///   - nominalRate: the frame rate to tell the session.
    ///   - followsTime: whether its rates are updated with each frame, so that it needs no scale.
    func opening(_ model: RateModel, nominalRate: Double, followsTime: Bool) -> Opening? {
        guard let bucket = model.bucket, let told = model.encoderBucket else { return nil }
        let (scale, lead) = followsTime ? (1, 0) : pace(nominalRate, leadLimit: told.size / told.rate / 2)
        // What was spent before counts if there was a bucket before.
        let free = self.bucket == nil ? Self.firstRoom(of: bucket) : min(room, bucket.size)
        let size = told.size - told.rate * lead
        // A session must not begin with a bucket without room.
        let start = min(size, max(size * 0.05, free - (bucket.size - size)))
        return Opening(rate: told.rate * scale, size: size, room: start, scale: scale)
    }

    private static func firstRoom(of bucket: LeakyBucket) -> Double {
        min(bucket.size, bucket.rate) * firstRoom
    }

    /// How much longer than nominal a frame lasts, and by how many seconds the session's time then runs ahead
    /// of capture time. If frames come in bursts, the scale stays below their mean, so that the bucket has
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

    /// A session was opened.
    /// - Parameter session: its idea of the bucket, if it accepts other rates while open.
    func begin(_ model: RateModel, nominalRate: Double, opening: Opening?, followsTime: Bool) {
        if bucket == nil { room = model.bucket.map(Self.firstRoom) ?? 0 }
        // An encoder that holds the bucket does not inherit the debt of one that was only asked to hold it.
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

    /// The open session continues with another bucket.
    func change(to model: RateModel) {
        bucket = model.bucket
        if let told = model.encoderBucket { session?.change(to: told) }
    }

    /// A frame is about to be given to the encoder.
    /// - Parameter next: the capture time of the frame that is to be coded next: this one's, unless others are held back.
    /// - Returns: the bits a second that the session must use from now on, if that has changed.
    func frame(at timestamp: Instant, next: Instant) -> Int? {
        if clock.frame(at: timestamp) { measure() }
        guard let bucket else { return nil }
        var passed = 0.0
        if let latest, next > latest { passed = (next - latest).inSeconds }
        room = min(bucket.size, room + bucket.rate * passed)
        latest = max(latest ?? next, next)
        return session?.rate(toReach: room - bucket.size, after: passed)
    }

    /// Frames come from another source, or at another nominal rate, from now on.
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

    /// A frame came out.
    func coded(bits: Int) {
        room -= Double(bits)
        session?.coded(bits: bits)
    }

    /// Whether a new session would suit the camera's rate better, because it has differed for two seconds or
    /// more from the rate that the open session was set up for.
    var wantsAnotherSession: Bool {
        bucket != nil && session == nil && deviation.sign != 0 && deviation.count >= patience
    }
}

/// An open libx264's own idea of its bucket: after each frame it subtracts the frame's bits and adds what its
/// rate gives for one frame. The rate is set so that this follows the bucket by capture time, one frame late.
private struct SessionBucket {
    private(set) var bucket: LeakyBucket
    private var room: Double
    /// In the session's own time.
    private let frameDuration: Double
    /// Bits a second, in whole thousands because libavcodec passes on no finer steps.
    private var rate: Int

    init(_ bucket: LeakyBucket, room: Double, framesPerSecond: Double) {
        self.bucket = bucket
        self.room = room
        frameDuration = 1 / framesPerSecond
        rate = Int(bucket.rate / 1000)
    }

    /// The session has been given another bucket.
    mutating func change(to bucket: LeakyBucket) {
        self.bucket = bucket
        rate = Int(bucket.rate / 1000)
    }

    /// - Parameters:
    ///   - level: room in the bucket less its size: 0 if it is empty.
    ///   - passed: seconds since the last frame.
    /// - Returns: bits per second for the session, if they change.
    mutating func rate(toReach level: Double, after passed: Double) -> Int? {
        let debt = bucket.size + level - room
        // The next frame adds one frame's worth, corrected by the difference of the last ones.
        var wanted = bucket.rate + debt / frameDuration
        // An empty bucket cannot drain further, but libx264 still needs the rate: it also decides how many
        // bits a frame may have.
        if level >= 0 { wanted = max(wanted, bucket.rate * passed / frameDuration) }
        // Not below zero, and not so much at once that libx264 gives one frame the whole buffer.
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

/// Measures how many frames a second come, and how evenly, over two seconds at a time.
private struct FrameClock {
    /// Frames a second in the latest two seconds that were whole; nil before.
    private(set) var rate: Double?
    /// Seconds from their beginning to each of their frames, and those of the two that go on.
    private var offsets: [Double] = []
    private var nextOffsets: [Double] = []
    private var start: Instant?
    private var latest = Instant.start
    private var count = 0

    private static let span = Duration.seconds(2)
    /// A longer gap is an outage or a pause, and says nothing of the camera's rate.
    private static let longestGap = Duration.seconds(1)
    /// Frames beyond are not looked at for evenness.
    private static let mostOffsets = 512

    init() {
        offsets.reserveCapacity(Self.mostOffsets)
        nextOffsets.reserveCapacity(Self.mostOffsets)
    }

    /// The most seconds by which a time that advances by this step per frame was before the true one.
    func lead(ifEachLasts duration: Double) -> Double {
        var (lead, latest, largest) = (0.0, 0.0, 0.0)
        for offset in offsets {
            lead = max(0, lead + duration - (offset - latest))
            latest = offset
            largest = max(largest, lead)
        }
        return largest
    }

    /// - Returns: whether there is another measurement.
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

/// The rates that a session is opened with, and whether it accepts others while it is open.
struct SessionRates {
    /// Nil if quality alone decides.
    let opening: RateRegulator.Opening?
    /// libx264 does: no other encoder of libavcodec changes its rate while it is open.
    let followsTime: Bool

    init(_ properties: SessionProperties, _ regulator: RateRegulator, followsTime: Bool) {
        self.followsTime = followsTime
        opening = regulator.opening(
            properties.rateModel, nominalRate: properties.frameRate.framesPerSecond, followsTime: followsTime)
    }
}
