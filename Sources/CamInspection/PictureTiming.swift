import Bitstream
import CamPlatform

/// The duration, the rate and the fullest second of a container's pictures, by their times.
///
/// Stores four bytes for each picture, up to a limit.
public struct PictureTiming: Sendable {
    /// The latest pictures by time: a later picture in coding order may still precede them in display
    /// order.
    private var waiting: [Picture] = []
    private var latest: Duration?
    /// The times between consecutive pictures in display order, in microseconds.
    private var intervals: [UInt32] = []
    /// The sum of all intervals, listed or not.
    private var total = Duration.zero
    private var intervalCount = 0
    private var pictureCount = 0
    private var window = SlidingBitRate(window: .seconds(1))

    private struct Picture {
        let time: Duration
        let bits: Int
    }

    /// The most pictures that codecs reorder (H.264, A.3.1 h; H.265, A.4.2).
    private static let mostReordered = 16
    /// The largest step back in time within a recording. After a larger step, a keyframe begins another
    /// recording in the same file.
    private static let largestStepBack = Duration.seconds(1)
    /// The limit of stored intervals, 16 MiB: a day and a half at 30 pictures a second.
    private static let mostIntervals = 1 << 22

    /// Creates timing without pictures.
    public init() {}

    /// Adds the next picture in coding order.
    mutating func add(time: Duration, isKeyframe: Bool, byteCount: Int) {
        if isKeyframe, let last = waiting.last?.time ?? latest, last - time > Self.largestStepBack {
            finish()
            latest = nil
        }
        let place = waiting.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        waiting.insert(Picture(time: time, bits: byteCount * 8), at: place)
        if waiting.count > Self.mostReordered { show(waiting.removeFirst()) }
    }

    /// Ends the stream.
    mutating func finish() {
        for picture in waiting { show(picture) }
        waiting.removeAll(keepingCapacity: true)
        window.finish()
    }

    private mutating func show(_ picture: Picture) {
        pictureCount += 1
        if let latest {
            let interval = max(.zero, picture.time - latest)
            total += interval
            intervalCount += 1
            if intervals.count < Self.mostIntervals {
                intervals.append(UInt32(clamping: interval.inNanoseconds / 1000))
            }
        }
        latest = max(latest ?? picture.time, picture.time)
        window.add(timestamp: .start + total, bits: picture.bits)
    }
}

extension PictureTiming {
    /// The duration and the rates by the times.
    struct Result: Sendable {
        /// The duration of all pictures, the last picture included.
        let duration: Duration
        let picturesPerSecond: Double
        /// The slowest and the fastest rate, without outliers; nil if the rate is constant.
        let variation: ClosedRange<Double>?
        /// The most bits in a second; nil if the pictures last less than a second.
        let peakBitRate: Double?
    }

    /// The share of outliers at either end: cameras lose frames, which makes some intervals longer.
    private static let rare = 0.02
    /// The tolerance of a constant rate: intervals of a camera vary by this factor, and by this many
    /// microseconds of rounding.
    private static let (jitter, rounding) = (0.25, 2000.0)

    /// The result; nil with fewer than two pictures.
    var result: Result? {
        guard intervalCount > 0, total > .zero else { return nil }
        let sorted = intervals.sorted()
        func interval(at share: Double) -> Double {
            Double(sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))])
        }
        let (shortest, median) = (interval(at: Self.rare), interval(at: 0.5))
        let longest = interval(at: 1 - Self.rare)
        let tolerance = median * Self.jitter + Self.rounding
        let varies = longest > median + tolerance || shortest < median - tolerance
        // The last picture of each recording has no interval.
        let typical = varies ? Duration.nanoseconds(Int64(median * 1000)) : total / intervalCount
        let duration = total + typical * (pictureCount - intervalCount)
        return Result(
            duration: duration, picturesPerSecond: Double(pictureCount) / duration.inSeconds,
            variation: varies && shortest > 0 ? (1e6 / longest)...(1e6 / shortest) : nil,
            peakBitRate: total >= window.window ? window.peakBitRate : nil)
    }
}

extension Inspection {
    /// Frames per access unit, where two fields are one frame.
    private var framesPerPicture: Double {
        summary.accessUnitCount > 0 ? Double(summary.frameCount) / Double(summary.accessUnitCount) : 1
    }

    /// The relative difference up to which the container's rate counts as the rate that the stream states.
    private static let agreement = 0.01

    /// Frames a second by the container's times, or without times as stated in the stream; nil if not
    /// stated.
    var framesPerSecond: Double? {
        guard let timing else { return summary.framesPerSecond }
        let measured = timing.picturesPerSecond * framesPerPicture
        if timing.variation == nil, let stated = summary.framesPerSecond,
            abs(measured / stated - 1) <= Self.agreement
        {
            return stated
        }
        return measured
    }

    /// Whether the rate differs from the rate that the stream states.
    var hasOwnRate: Bool { framesPerSecond != summary.framesPerSecond }

    /// The slowest and the fastest rate in frames a second; nil if the rate is constant or unknown.
    var rateVariation: ClosedRange<Double>? {
        timing?.variation.map { $0.lowerBound * framesPerPicture...$0.upperBound * framesPerPicture }
    }

    /// Access units a second.
    var picturesPerSecond: Double? {
        hasOwnRate ? framesPerSecond.map { $0 / framesPerPicture } : summary.picturesPerSecond
    }

    /// The duration of all frames, in seconds.
    var duration: Double? { timing?.duration.inSeconds ?? summary.duration }

    /// Bits of pictures a second, on average.
    var averageBitRate: Double? {
        duration.flatMap { $0 > 0 ? Double(summary.pictureByteCount) * 8 / $0 : nil }
    }

    /// Bits in the fullest second; nil if the stream is shorter, or its rate unknown.
    var peakBitRate: Double? { timing.map(\.peakBitRate) ?? summary.peakBitRate }
}
