/// Makes presentation times of capture times: from 0 on, in ticks, strictly rising from picture to picture,
/// whatever the camera's clock does.
///
/// Pictures come in decoding order. One that comes before others presented before it leaves a tick for each
/// of them, so that no time must be taken back.
public struct PresentationClock {
    /// Ticks of the presentation times.
    let ticksPerSecond: Int64

    /// A step back by more than this, in nanoseconds, is a clock that was set, or another recording that follows: time
    /// goes on from the last picture. A smaller one is a clock that jitters.
    /// - Parameter frameDuration: nominal, in nanoseconds.
    public static func largestStepBack(frameDuration: Int64) -> Int64 {
        min(max(frameDuration, 25_000_000), 250_000_000) * 4
    }
    /// A step ahead by more than this likewise: a week. A camera may be away for long.
    static let largestStepAhead: Int64 = 7 * 86400 * 1_000_000_000
    /// More pictures than any stream presents between two that it decodes one after another.
    private static let windowLength = 32

    /// Nominal time from picture to picture, in nanoseconds.
    private let frameDuration: Int64
    private let largestStep: Int64
    /// The pictures presented last, by their number.
    private var window: [(number: Int, time: Int64)] = []
    /// What makes a time on the recording's clock of a capture time.
    private var offset: Int64 = 0
    /// The recording's time at the picture with the highest number, in nanoseconds.
    private var latest: Int64 = 0

    /// - Parameters:
    ///   - ticksPerSecond: at least 1, at most a billion.
    ///   - frameDuration: nominal, in nanoseconds; at least 1.
    ///   - largestStep: the longest time from picture to picture, in nanoseconds, that the container can have.
    init(ticksPerSecond: Int64, frameDuration: Int64, largestStep: Int64 = Self.largestStepAhead) {
        self.ticksPerSecond = ticksPerSecond
        self.largestStep = min(largestStep, Self.largestStepAhead)
        self.frameDuration = min(frameDuration, self.largestStep)
        window.reserveCapacity(Self.windowLength + 1)
    }

    /// Nominal time from picture to picture, at least 1 tick.
    var frameTicks: Int64 { max(1, ticks(frameDuration)) }

    /// The presentation time of the next picture in decoding order.
    /// - Parameters:
    ///   - number: its place in presentation order.
    ///   - timestamp: when it was captured, in nanoseconds on any clock.
    mutating func time(number: Int, timestamp: Int64) -> Int64 {
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

    /// A tick for each step from one picture to another.
    private static func room(between first: Int, and second: Int) -> Int64 {
        Int64(max(1, min(second &- first, windowLength)))
    }

    /// Nanoseconds since the first picture.
    private mutating func recordingTime(number: Int, timestamp: Int64) -> Int64 {
        guard let highest = window.last?.number else {
            offset = 0 &- timestamp
            return 0
        }
        let time = timestamp &+ offset
        guard number > highest else { return time }
        // Compared without overflow: a capture time is any number.
        let (step, overflow) = time.subtractingReportingOverflow(latest)
        if overflow || step < -Self.largestStepBack(frameDuration: frameDuration) || step > largestStep {
            offset = latest &+ frameDuration &- timestamp
            latest &+= frameDuration
        } else {
            latest = max(latest, time)
        }
        return latest
    }

    /// Nanoseconds in ticks, rounded to the nearest.
    private func ticks(_ nanoseconds: Int64) -> Int64 {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds &* ticksPerSecond + (rest * ticksPerSecond + 500_000_000) / 1_000_000_000
    }
}
