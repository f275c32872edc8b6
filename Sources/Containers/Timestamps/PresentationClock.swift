import CamPlatform

/// Converts capture times to presentation times: starting at 0, in ticks, strictly increasing from picture to
/// picture, whatever the camera's clock does.
///
/// Pictures arrive in decoding order. A picture that arrives before others that are presented earlier leaves
/// a tick for each of them, so that no time has to be revised.
public struct PresentationClock {
    /// Ticks of the presentation times.
    let ticksPerSecond: Int64

    /// A larger step back means that the clock was set, or that another recording follows: time continues
    /// from the last picture. A smaller one is clock jitter.
    /// - Parameter frameDuration: nominal.
    public static func largestStepBack(frameDuration: Duration) -> Duration {
        min(max(frameDuration, .milliseconds(25)), .milliseconds(250)) * 4
    }
    /// The corresponding limit for a step ahead: a week, because a camera may be unplugged for a long time.
    static let largestStepAhead = Duration.seconds(7 * 86400)
    /// More pictures than any stream presents between two that it decodes one after the other.
    private static let windowLength = 32

    /// Nominal time from picture to picture.
    private var frameDuration: Duration
    private let largestStep: Duration
    /// The latest presented pictures, by their number, with their times in ticks.
    private var window: [(number: Int, time: Int64)] = []
    /// Converts capture times to the recording's clock by addition.
    private var offset = Duration.zero
    /// The recording's time at the picture with the highest number.
    private var latest = Duration.zero

    /// - Parameters:
    ///   - ticksPerSecond: at least 1, at most a billion.
    ///   - frameDuration: nominal; at least a nanosecond.
    ///   - largestStep: the longest time between pictures that the container can store.
    init(ticksPerSecond: Int64, frameDuration: Duration, largestStep: Duration = Self.largestStepAhead) {
        self.ticksPerSecond = ticksPerSecond
        self.largestStep = min(largestStep, Self.largestStepAhead)
        self.frameDuration = min(frameDuration, self.largestStep)
        window.reserveCapacity(Self.windowLength + 1)
    }

    /// Continues with another nominal time from picture to picture.
    mutating func change(frameDuration: Duration) { self.frameDuration = min(frameDuration, largestStep) }

    /// Nominal time from picture to picture, at least 1 tick.
    var frameTicks: Int64 { max(1, ticks(frameDuration)) }

    /// The presentation time of the next picture in decoding order.
    /// - Parameters:
    ///   - number: its place in presentation order.
    ///   - timestamp: when it was captured, on any clock.
    package mutating func time(number: Int, timestamp: Instant) -> Int64 {
        let wished = ticks(recordingTime(number: number, timestamp: timestamp))
        let index = window.firstIndex { $0.number >= number } ?? window.endIndex
        var time = wished
        if index < window.endIndex {
            time = min(time, window[index].time - Self.room(between: number, and: window[index].number))
        }
        if index > 0 {
            let before = window[index - 1]
            time = max(time, before.time + Self.room(between: before.number, and: number))
        }
        window.insert((number, time), at: index)
        if window.count > Self.windowLength { window.removeFirst() }
        return time
    }

    /// The time since the first picture of a timestamp on the pictures' clock, for example of sound; nil for
    /// earlier timestamps.
    func recordingTime(at timestamp: Instant) -> Duration? {
        let time = Duration.nanoseconds(timestamp.nanoseconds) + offset
        return window.isEmpty || time < .zero ? nil : time
    }

    /// A tick for each step from one picture to another.
    private static func room(between first: Int, and second: Int) -> Int64 {
        Int64(max(1, min(second &- first, windowLength)))
    }

    /// The time since the first picture.
    private mutating func recordingTime(number: Int, timestamp: Instant) -> Duration {
        // A capture time may be any number, but sums of `Duration` are exact.
        let reading = Duration.nanoseconds(timestamp.nanoseconds)
        guard let highest = window.last?.number else {
            offset = .zero - reading
            return .zero
        }
        let time = reading + offset
        guard number > highest else { return time }
        let step = time - latest
        if step + Self.largestStepBack(frameDuration: frameDuration) < .zero || step > largestStep {
            latest += frameDuration
            offset = latest - reading
        } else {
            latest = max(latest, time)
        }
        return latest
    }

    private func ticks(_ time: Duration) -> Int64 { time.ticks(perSecond: ticksPerSecond) }
}

extension Duration {
    /// In ticks, rounded to the nearest; up to 36 years.
    func ticks(perSecond rate: Int64) -> Int64 {
        let nanoseconds = max(-1 << 60, min(inNanoseconds, 1 << 60))
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds * rate + (rest * rate + 500_000_000) / 1_000_000_000
    }
}

// MARK: - Presentation order

/// Sorts times from decoding order into presentation order; each leaves as soon as no smaller one can follow.
struct PresentationOrder {
    /// How many pictures at most precede another in decoding order and follow it in presentation order.
    let reordering: Int
    /// In ascending order.
    private var held: [Int64] = []

    /// The largest possible reordering: both standards allow 16 pictures (H.264 A.3.1, H.265 A.4.2).
    static let largestReordering = 16

    /// - Parameter reordering: clamped to 0 to 16.
    init(reordering: Int) {
        self.reordering = max(0, min(reordering, Self.largestReordering))
        held.reserveCapacity(self.reordering + 1)
    }

    /// Inserts the next time. Returns the smallest time once no smaller one can follow.
    mutating func insert(_ time: Int64) -> Int64? {
        held.insert(time, at: held.firstIndex { $0 > time } ?? held.endIndex)
        return held.count > reordering ? held.removeFirst() : nil
    }

    /// Removes and returns the smallest time; nil if none is left.
    mutating func removeFirst() -> Int64? { held.isEmpty ? nil : held.removeFirst() }
}

// MARK: - Presentation and decoding times

/// The two times that a container stores for a picture: when it is presented and when it is decoded.
///
/// Decoding times increase strictly, and none is later than its picture's presentation. In a stream with
/// reordering by `d` pictures, picture n in decoding order is decoded when picture n − d in presentation
/// order is presented: that one has always arrived by then, so nothing waits.
package struct PacketClock {
    /// In the container's ticks. The first presentation is at 0, and with reordering the first decoding times are below
    /// 0, unless the clock has a lead.
    struct Times: Equatable {
        let presentation: Int64
        let decoding: Int64
    }

    private var presentation: PresentationClock
    private var order: PresentationOrder
    /// How many decoding times below 0 are still to come.
    private var leading: Int
    private var lastDecoding = Int64.min
    /// Added to all times, in ticks, so that no decoding time is below 0. Files that share a clock need the same lead.
    let lead: Int64

    /// - Parameter hasLead: whether no time may be below 0.
    init(ticksPerSecond: Int64, stream: StreamDescription, largestStep: Duration, hasLead: Bool = false) {
        presentation = PresentationClock(
            ticksPerSecond: ticksPerSecond, frameDuration: stream.frameDuration, largestStep: largestStep)
        order = PresentationOrder(reordering: stream.reordering)
        leading = order.reordering
        lead = hasLead ? Int64(order.reordering) * presentation.frameTicks : 0
    }

    /// The clock for the next file of the same recording, whose stream may be another.
    func continued(by stream: StreamDescription) -> PacketClock {
        var next = self
        next.presentation.change(frameDuration: stream.frameDuration)
        if next.order.reordering != stream.reordering {
            next.order = PresentationOrder(reordering: stream.reordering)
        }
        return next
    }

    /// The nominal duration of a picture in ticks.
    var frameTicks: Int64 { presentation.frameTicks }

    /// Continues with another nominal time from picture to picture.
    mutating func change(frameDuration: Duration) { presentation.change(frameDuration: frameDuration) }

    /// The presentation time of a capture time on the pictures' clock, for example of sound; nil before the
    /// first picture.
    func time(at timestamp: Instant) -> Duration? { presentation.recordingTime(at: timestamp) }

    /// The times of the next picture in decoding order.
    /// - Parameters:
    ///   - number: its place in presentation order.
    ///   - timestamp: when it was captured, on any clock.
    mutating func times(number: Int, timestamp: Instant) -> Times {
        let time = presentation.time(number: number, timestamp: timestamp)
        var decoding = min(order.insert(time) ?? 0, time)
        if leading > 0 {
            decoding = Int64(-leading) * frameTicks
            leading -= 1
        }
        // If a stream reorders more than declared, its pictures are presented late rather than lost.
        if lastDecoding != .min { decoding = max(decoding, lastDecoding + 1) }
        lastDecoding = decoding
        return Times(presentation: max(time, decoding) + lead, decoding: decoding + lead)
    }
}

/// The clock that the transport streams of one recording share: each file continues the times of the file before it, so
/// that the files can be joined (as in RFC 8216, 3.2). Belongs to the thread that writes them.
public final class SharedPacketClock {
    /// Nil before the first file has ended.
    var clock: PacketClock?

    /// Creates the clock of a recording that has not begun.
    public init() {}
}

// MARK: - Sound

/// Converts times of sound to a container's ticks, which increase strictly: a packet whose time is already
/// taken is left out.
struct SoundTicks {
    private let ticksPerSecond: Int64
    private var latest: Int64?

    init(ticksPerSecond: Int64) { self.ticksPerSecond = ticksPerSecond }

    /// The time of the next packet, in ticks; nil if the previous packet has the same time or a later one.
    /// - Parameter time: since the first picture.
    mutating func ticks(_ time: Duration) -> Int64? {
        let ticks = count(time)
        if let latest, ticks <= latest { return nil }
        latest = ticks
        return ticks
    }

    /// A duration in ticks.
    func count(_ time: Duration) -> Int64 { time.ticks(perSecond: ticksPerSecond) }
}
