import Bitstream
import Encoder

/// Measures a track's bit rate on its own output, and holds it to what the encoder promises: hardware may not obey.
struct RateRecord {
    private var meter = SlidingBitRate(window: usualWindow, reordering: mostReordered)
    private var promise: RatePromise?
    /// The most bits in any window since the stream began, whatever was promised then.
    private var largestWindow = 0
    /// By how many bits the worst of windows that broke their promise did, and what that was.
    private var broken: (bits: Int, excess: Int, promise: RatePromise)?
    /// Since something was promised last: the moments of capture, access units and bits.
    private var span: ClosedRange<Int64>?
    private var (count, bits) = (0, 0)
    /// The latest average that was not held, and what was promised.
    private var brokenAverage: (measured: Double, wanted: Int)?
    private var promises = 0

    /// Where nothing is promised, a second says how uneven a stream is.
    private static let usualWindow: Int64 = 1_000_000_000
    /// B pictures in a row (H.264 has at most 16 reference frames to reorder).
    private static let mostReordered = 16

    /// From now on something is promised; windows that began before are not held to it.
    mutating func begin(_ promise: RatePromise?) {
        guard promise != self.promise else { return }
        judge()
        self.promise = promise
        (span, count, bits) = (nil, 0, 0)
        promises += 1
        let window = promise.map { Int64($0.window * 1e9) } ?? Self.usualWindow
        if window == meter.window {
            meter.forgetWindows()
        } else {
            meter = SlidingBitRate(window: window, reordering: Self.mostReordered)
        }
    }

    /// Counts an access unit.
    mutating func add(_ unit: AccessUnit) {
        meter.add(timestamp: unit.timestamp, bits: unit.count * 8)
        let time = unit.timestamp
        span = min(span?.lowerBound ?? time, time)...max(span?.upperBound ?? time, time)
        count += 1
        bits += unit.count * 8
    }

    /// What came of it.
    /// - Parameters:
    ///   - bits: of all access units.
    ///   - seconds: that they last, by the source's clock.
    mutating func outcome(bits: Int, seconds: Double?) -> RecordingOutcome.Rate {
        judge()
        let window = Double(meter.window) / 1e9
        return RecordingOutcome.Rate(
            average: seconds.flatMap { $0 > 0 ? Double(bits) / $0 : nil },
            worstWindow: Double(largestWindow) / window, window: window, promise: promise,
            hasChanged: promises > 1, brokenAverage: brokenAverage?.measured,
            wantedAverage: brokenAverage?.wanted,
            brokenWindow: broken.map { Double($0.bits) / $0.promise.window },
            brokenMaximum: broken?.promise.maximum)
    }

    private mutating func judgeAverage() {
        guard let promise, let wanted = promise.average, let span, count > 1 else { return }
        // The last access unit lasts as long as the others on average.
        let seconds = Double(span.upperBound - span.lowerBound) / 1e9 * Double(count) / Double(count - 1)
        guard seconds > 0, !promise.holdsAverage(bits: bits, seconds: seconds) else { return }
        brokenAverage = (Double(bits) / seconds, wanted)
    }

    private mutating func judge() {
        judgeAverage()
        meter.finish()
        largestWindow = max(largestWindow, meter.largestWindow)
        guard let promise, let limit = promise.bitsInWindow else { return }
        let excess = meter.largestWindow - limit
        if excess > max(0, broken?.excess ?? 0) { broken = (meter.largestWindow, excess, promise) }
    }
}
