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
    /// The same for a step ahead: a week, because a camera may be away for a long time.
    static let largestStepAhead = Duration.seconds(7 * 86400)
    /// More pictures than any stream presents between two that it decodes one after the other.
    private static let windowLength = 32

    /// Nominal time from picture to picture.
    private var frameDuration: Duration
    private let largestStep: Duration
    /// The latest presented pictures, by their number, with their times in ticks.
    private var window: [(number: Int, time: Int64)] = []
    /// Added to a capture time, gives the time on the recording's clock.
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
    mutating func time(number: Int, timestamp: Instant) -> Int64 {
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

    /// The time since the first picture of something else, which the same clock has stamped; nil for what was before.
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
