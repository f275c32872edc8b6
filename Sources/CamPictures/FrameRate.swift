import CamPlatform

/// Frames a second as an exact fraction in lowest terms.
public struct FrameRate: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Frames in `denominator` seconds, 1 … 2³³.
    public let numerator: Int
    /// Seconds, 1 … 2³³.
    public let denominator: Int

    /// The default: 30, which most cameras have and most people expect.
    package static let usual = FrameRate(whole: 30)

    private init(whole: Int) {
        numerator = whole
        denominator = 1
    }

    /// The rate of a source: at most a million frames a second, at least one a day.
    ///
    /// Nil beyond that, and if either part is not 1 … 2³¹−1. Drivers do report 0/0 (uvcvideo with a broken
    /// descriptor), which would cause a division by zero later.
    public init?(_ numerator: Int, _ denominator: Int = 1) {
        self.init(announced: numerator, in: denominator)
        guard numerator / denominator <= 1_000_000, denominator / numerator <= 86400,
            max(self.numerator, self.denominator) <= Int(Int32.max)
        else { return nil }
    }

    /// Any rate that the parameter sets of a stream can announce with a clock of 32 bits (H.264 E.2.1, H.265
    /// E.3.1).
    ///
    /// Nil if either part is not positive, or exceeds 2³³ in lowest terms.
    public init?(announced frames: Int, in seconds: Int) {
        guard frames > 0, seconds > 0 else { return nil }
        let divisor = Self.greatestCommonDivisor(frames, seconds)
        guard max(frames, seconds) / divisor <= 1 << 33 else { return nil }
        (numerator, denominator) = (frames / divisor, seconds / divisor)
    }

    /// Reads `30`, `29.97` or `30000/1001`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 2, let numerator = Int(parts[0]), let denominator = Int(parts[1]) {
            self.init(numerator, denominator)
        } else if parts.count == 1, text.utf8.allSatisfy(Self.isDecimal), let value = Double(text), value > 0,
            value <= 1_000_000
        {
            let thousandths = (value * 1000).rounded()
            // 23.976, 29.97 and 59.94 stand for n × 1000/1001 everywhere in video.
            let ntsc = (value * 1.001).rounded()
            if abs(ntsc / 1.001 - value) < 0.005, value.rounded() != value {
                self.init(Int(ntsc) * 1000, 1001)
            } else {
                self.init(Int(thousandths), 1000)
            }
        } else {
            return nil
        }
    }

    /// `Double` reads hexadecimal numbers, exponents and words as well.
    private static func isDecimal(_ character: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) || character == UInt8(ascii: ".")
    }

    /// The usual video rate near a measured one, whole frames a second or 1000/1001 of that; if there is
    /// none, the measured rate in thousandths.
    /// - Parameter tolerance: the largest relative error of the measured rate.
    package init?(measured value: Double, tolerance: Double) {
        guard value > 0, value <= 1_000_000 else { return nil }
        let (whole, ntsc) = (value.rounded(), (value * 1.001).rounded())
        let wholeError = abs(whole - value) / value
        // The only slowed-down rates in video.
        let ntscError = [24, 30, 48, 60, 120].contains(ntsc) ? abs(ntsc / 1.001 - value) / value : .infinity
        if wholeError <= min(ntscError, tolerance) {
            self.init(Int(whole))
        } else if ntscError <= tolerance {
            self.init(Int(ntsc) * 1000, 1001)
        } else {
            self.init(Int((value * 1000).rounded()), 1000)
        }
    }

    /// Frames a second.
    public var framesPerSecond: Double { Double(numerator) / Double(denominator) }

    /// The time from one frame to the next in whole nanoseconds, rounded down, at least 1.
    public var frameDuration: Duration {
        .nanoseconds(max(1, 1_000_000_000 * Int64(denominator) / Int64(numerator)))
    }

    /// The time from frame 0 to frame `index`, in whole nanoseconds without accumulated rounding; at most a
    /// century.
    public func time(ofFrame index: Int) -> Duration {
        let century = Duration.seconds(100 * 366 * 86400)
        let (units, isBeyond) = index.multipliedReportingOverflow(by: denominator)
        guard !isBeyond, Double(index) * frameDuration.inSeconds < century.inSeconds else { return century }
        let (seconds, frames) = units.quotientAndRemainder(dividingBy: numerator)
        return .seconds(seconds) + .nanoseconds(Int64(frames) * 1_000_000_000 / Int64(numerator))
    }

    /// The playing time of a frame of a time lapse: at this rate, independent of its capture time.
    public func playingTime(ofFrame index: Int) -> Instant { .start + time(ofFrame: index) }

    public static func < (left: FrameRate, right: FrameRate) -> Bool {
        let first = left.numerator.multipliedFullWidth(by: right.denominator)
        let second = right.numerator.multipliedFullWidth(by: left.denominator)
        return (first.high, first.low) < (second.high, second.low)
    }

    /// `30`, `29.97`.
    public var description: String {
        if denominator == 1 { return "\(numerator)" }
        let hundredths = Int((framesPerSecond * 100).rounded())
        let (whole, fraction) = hundredths.quotientAndRemainder(dividingBy: 100)
        return fraction % 10 == 0
            ? "\(whole).\(fraction / 10)" : "\(whole).\(fraction < 10 ? "0" : "")\(fraction)"
    }

    private static func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
        var (a, b) = (first, second)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }
}

// MARK: A lower rate

/// Picks frames at a lower rate than the camera's, by their capture time: those of a time lapse, or of a rendition.
///
/// Frames are due on a grid that begins with the first frame. Late or lost frames do not move the grid, so it
/// does not drift in a long recording. The frame nearest to each moment is picked, or the next one if none is
/// near.
package struct FramePicker {
    private let interval: Duration
    /// The first frame's time, and the next moment.
    private var grid: (start: Instant, due: Instant)?

    /// - Parameter interval: from one moment to the next; more than zero.
    package init(every interval: Duration) { self.interval = max(.nanoseconds(1), interval) }

    /// Makes this the first frame, and starts the grid.
    package mutating func begin(at time: Instant) { grid = (time, time + interval) }

    /// Returns whether a frame is due.
    /// - Parameters:
    ///   - time: when it was captured. If it is earlier than the last moment by more than an interval, the
    ///     camera's clock was set, and the grid starts again.
    ///   - frameDuration: the nominal time to the next frame.
    package mutating func picks(frameAt time: Instant, frameDuration: Duration) -> Bool {
        guard let grid, grid.due - time <= interval * 2 else {
            begin(at: time)
            return true
        }
        let early = (grid.due - frameDuration / 2) - time
        guard early <= .zero else { return false }
        let missed = (Duration.zero - early).inNanoseconds / interval.inNanoseconds
        self.grid?.due += .nanoseconds(interval.inNanoseconds * (missed + 1))
        return true
    }

    /// The time since the first frame.
    package func elapsed(at time: Instant) -> Duration { grid.map { time - $0.start } ?? .zero }
}
