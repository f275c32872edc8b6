import CamPlatform

/// The duration, the rate and the fullest second of pictures, by the times in their container or stream.
///
/// Stores four bytes for each picture, up to a limit.
package struct PictureTiming: Sendable {
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
    /// The number of joined recordings, each with times of its own.
    package private(set) var recordingCount = 1
    private var window = SlidingBitRate(window: .seconds(1))

    private struct Picture {
        let time: Duration
        let bits: Int
    }

    /// The most pictures that codecs reorder (H.264, A.3.1 h; H.265, A.4.2).
    private static let mostReordered = 16
    /// The largest step back in time from which a keyframe begins no other recording in the same file. A keyframe is
    /// shown after all pictures before it; only inexact times make it earlier.
    package static let largestStepBack = Duration.milliseconds(100)
    /// The limit of stored intervals, 16 MiB: a day and a half at 30 pictures a second.
    private static let mostIntervals = 1 << 22

    /// Creates timing without pictures.
    package init() {}

    /// Adds the next picture in coding order.
    package mutating func add(time: Duration, isKeyframe: Bool, byteCount: Int) {
        if isKeyframe, let last = waiting.last?.time ?? latest, last - time > Self.largestStepBack {
            finish()
            latest = nil
            recordingCount += 1
        }
        let place = waiting.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        waiting.insert(Picture(time: time, bits: byteCount * 8), at: place)
        if waiting.count > Self.mostReordered { show(waiting.removeFirst()) }
    }

    /// Ends the stream.
    package mutating func finish() {
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
    package struct Result: Sendable {
        /// The duration of all pictures, the last picture included.
        package let duration: Duration
        /// Pictures a second, on average.
        package let picturesPerSecond: Double
        /// The slowest and the fastest rate, without outliers; nil if the rate is constant.
        package let variation: ClosedRange<Double>?
        /// The longest time between two pictures at an otherwise constant rate; nil if no pictures are missing.
        package let longestGap: Duration?
        /// The most bits in a second; nil if the pictures last less than a second.
        package let peakBitRate: Double?
    }

    /// The share of outliers at either end: cameras lose frames, which makes some intervals longer.
    private static let rare = 0.02
    /// The tolerance of a constant rate: intervals of a camera vary by this factor, and by this many
    /// microseconds of rounding.
    private static let (jitter, rounding) = (0.25, 2000.0)
    /// Usual intervals from which one is a gap: less is a lost picture or two.
    private static let gap = 4.0

    /// The result; nil with fewer than two pictures.
    package var result: Result? {
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
        let outlier = Double(sorted.last ?? 0)
        let hasGap = !varies && outlier > median * Self.gap + Self.rounding
        let duration = total + typical * (pictureCount - intervalCount)
        return Result(
            duration: duration, picturesPerSecond: Double(pictureCount) / duration.inSeconds,
            variation: varies && shortest > 0 ? (1e6 / longest)...(1e6 / shortest) : nil,
            longestGap: hasGap ? .nanoseconds(Int64(outlier * 1000)) : nil,
            peakBitRate: total >= window.window ? window.peakBitRate : nil)
    }
}
