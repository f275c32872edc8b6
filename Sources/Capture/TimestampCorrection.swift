import CamPictures
import CamPlatform

/// A fault in the capture times that a driver reports.
public enum TimestampFault: Sendable, Hashable {
    /// The times stay the same while pictures keep coming, such as when v4l2loopback repeats a picture.
    case standing
    /// The times jumped by this much, although their clock cannot be set.
    case jumped(Duration)
}

/// Corrects impossible capture times of a driver, which stand still or jump.
///
/// A wrong time is replaced by the time of arrival, less the usual lag from capture to arrival. After a
/// permanent jump all later times are shifted by the same amount, which keeps the driver's intervals.
///
/// A stream that starts can contain no picture from before its start. A clock that is wrong from the first picture on
/// shows in that, and one that is known to be wrong stays corrected.
struct TimestampCorrection {
    private var frameDuration: Duration
    /// The tolerated error of times: cameras' clocks and busy machines are not exact.
    private var tolerance: Duration
    /// When the stream started.
    private var start: Instant
    /// Whether no picture has come since the stream started again.
    private var isRestarted = false
    /// The driver's first times, as long as they are impossible.
    private var suspect: Instant?
    /// The correction that is added to the driver's times.
    private var shift = Duration.zero
    /// The usual time from capture to arrival; nil before the first picture.
    private var lag: Duration?
    /// Whether the driver's times have moved. Until they move, the first time may be old.
    private var hasMoved = false
    /// The driver's latest time, shifted, and the arrival of its picture.
    private var latest = (time: Instant.start, arrival: Instant.start)
    /// The latest result.
    private var last = Instant.distantPast
    private var hasCorrected = false

    /// A time further from its arrival is useless: the driver uses another clock.
    private static let plausibleAge = Duration.seconds(60)

    init(frameDuration: Duration, start: Instant) {
        (self.frameDuration, self.start) = (frameDuration, start)
        tolerance = Self.tolerance(for: frameDuration)
    }

    /// The stream starts again.
    mutating func restart(frameDuration: Duration, at time: Instant) {
        (self.frameDuration, start, isRestarted) = (frameDuration, time, true)
        tolerance = Self.tolerance(for: frameDuration)
    }

    private static func tolerance(for frameDuration: Duration) -> Duration {
        max(frameDuration * 2, .milliseconds(100))
    }

    /// A picture's time, and the fault in the driver's time.
    struct Result {
        var time: Instant
        /// The fault; nil if `time` is the driver's time.
        var fault: TimestampFault?
    }

    /// Returns a picture's time of capture.
    /// - Parameters:
    ///   - claimed: the driver's time.
    ///   - arrival: when the picture was taken from the driver, never earlier than for the previous picture.
    mutating func correct(_ claimed: Instant, arrival: Instant) -> Result {
        let isFirst = isRestarted
        isRestarted = false
        guard let lag else { return begin(claimed, arrival) }
        let expected = arrival - lag
        // After a jump of a single picture, or in a stream that started again, the driver's own times are right again.
        // Both conditions are needed, because a picture that is read late may meet one of them by chance.
        if (claimed - expected).magnitude < tolerance,
            isFirst || (claimed - last - frameDuration).magnitude < tolerance
        {
            shift = .zero
        }
        var result = Result(time: claimed + shift, fault: shift == .zero ? nil : .jumped(.zero - shift))
        let (step, lead) = (result.time - latest.time, result.time - max(expected, arrival))
        let isTooOld = isFirst && step > .zero && result.time < start - tolerance
        if step < .zero - tolerance || lead > tolerance || isTooOld {
            shift += expected - result.time
            result = Result(time: expected, fault: .jumped(.zero - shift))
            latest = (expected, arrival)
        } else if step > .zero {
            if shift != .zero, result.time > arrival {
                // The first pictures of a wrong clock may have arrived late.
                shift -= result.time - arrival
                result = Result(time: arrival, fault: .jumped(.zero - shift))
            }
            latest = (result.time, arrival)
            adapt(to: arrival - result.time)
        } else if arrival - latest.arrival >= frameDuration * 2 {
            result = Result(time: hasMoved ? expected : max(expected, arrival), fault: .standing)
        }
        hasCorrected = hasCorrected || result.fault != nil
        if hasCorrected { result.time = max(result.time, last + .microseconds(1)) }
        last = result.time
        return result
    }

    private mutating func begin(_ claimed: Instant, _ arrival: Instant) -> Result {
        guard (arrival - claimed).magnitude < Self.plausibleAge else { return Result(time: arrival) }
        guard claimed < start - tolerance || claimed > arrival + tolerance else {
            lag = arrival - claimed
            latest = (max(claimed, last + .microseconds(1)), arrival)
            last = latest.time
            return Result(time: last)
        }
        // A single picture may have waited in the driver since before the start.
        let former = suspect
        (suspect, last, hasCorrected) = (claimed, arrival, true)
        guard let former else { return Result(time: arrival) }
        guard claimed != former else { return Result(time: arrival, fault: .standing) }
        (lag, shift, latest) = (.zero, arrival - claimed, (arrival, arrival))
        return Result(time: arrival, fault: .jumped(.zero - shift))
    }

    /// A picture that was read late says little about the next one.
    private mutating func adapt(to measured: Duration) {
        guard let lag else { return }
        hasMoved = true
        self.lag = measured < lag ? measured : lag + (measured - lag) / 16
    }
}

// MARK: Measured rates

/// Measures the rate of pictures, if the driver does not report it.
struct RateMeter {
    /// How long a measurement takes.
    static let span = Duration.seconds(1)

    private var first: (sequence: UInt32, time: Instant)?
    private var last: (sequence: UInt32, time: Instant)?
    private var intervals = 0

    /// Adds a picture to the measurement.
    mutating func add(sequence: UInt32, timestamp: Instant) {
        if first == nil { first = (sequence, timestamp) } else { intervals += 1 }
        last = (sequence, timestamp)
    }

    /// Whether the measurement is long enough.
    var isDone: Bool {
        guard let first, let last else { return false }
        return last.time - first.time >= Self.span
    }

    /// The measured rate; nil if fewer than two pictures came.
    var frameRate: FrameRate? {
        guard let first, let last, intervals > 0, last.time > first.time else { return nil }
        // Lost pictures count too, except where a driver's sequence numbers do not count pictures.
        let numbered = Int(Int32(bitPattern: last.sequence &- first.sequence))
        let frames = (intervals...4 * intervals).contains(numbered) ? numbered : intervals
        return FrameRate(
            measured: Double(frames) / (last.time - first.time).inSeconds, tolerance: 0.005)
    }
}
