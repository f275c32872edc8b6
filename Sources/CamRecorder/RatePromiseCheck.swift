import Bitstream
import Encoder
import CamPlatform

/// Measures a track's actual bit rate and checks it against the encoder's promise, which hardware may break.
struct RatePromiseCheck {
    private var meter = SlidingBitRate(window: usualWindow, reordering: mostReordered)
    private var promise: RatePromise?
    /// The most bits in any window since the stream began, under any promise.
    private var largestWindow = 0
    /// The window that exceeded its promise most, its excess in bits, and that promise.
    private var broken: (bits: Int, excess: Int, promise: RatePromise)?
    /// Since the current promise: the capture times, access units and bits.
    private var span: ClosedRange<Instant>?
    private var (count, bits) = (0, 0)
    /// The latest average that broke its promise, and that promise.
    private var brokenAverage: (measured: Double, wanted: Int)?
    private var promises = 0

    /// Without a promise, a one-second window shows how uneven a stream is.
    private static let usualWindow = Duration.seconds(1)
    /// Consecutive B pictures (H.264 has at most 16 reference frames to reorder).
    private static let mostReordered = 16

    /// Applies a new promise from now on; windows that began before are not checked against it.
    mutating func begin(_ promise: RatePromise?) {
        guard promise != self.promise else { return }
        judge()
        self.promise = promise
        (span, count, bits) = (nil, 0, 0)
        promises += 1
        let window = promise.map { .nanoseconds(Int64($0.window * 1e9)) } ?? Self.usualWindow
        if window == meter.window {
            meter.forgetWindows()
        } else {
            meter = SlidingBitRate(window: window, reordering: Self.mostReordered)
        }
    }

    /// Counts an access unit.
    /// - Parameter time: when it is played.
    mutating func add(_ unit: AccessUnit, playedAt time: Instant) {
        meter.add(timestamp: time, bits: unit.count * 8)
        span = min(span?.lowerBound ?? time, time)...max(span?.upperBound ?? time, time)
        count += 1
        bits += unit.count * 8
    }

    /// Returns the result.
    /// - Parameters:
    ///   - bits: the total of all access units.
    ///   - seconds: their duration by the source's clock.
    mutating func outcome(bits: Int, seconds: Double?) -> RecordingOutcome.Rate {
        judge()
        let window = meter.window.inSeconds
        let average = seconds.flatMap { $0 > 0 ? Double(bits) / $0 : nil }
        return RecordingOutcome.Rate(
            average: average,
            // A stream shorter than a window, as a time lapse may be, has no fuller part than the whole.
            worstWindow: max(Double(largestWindow) / window, average ?? 0), window: window, promise: promise,
            hasChanged: promises > 1, brokenAverage: brokenAverage?.measured,
            wantedAverage: brokenAverage?.wanted,
            brokenWindow: broken.map { Double($0.bits) / $0.promise.window },
            brokenMaximum: broken?.promise.maximum)
    }

    private mutating func judgeAverage() {
        guard let promise, let wanted = promise.average, let span, count > 1 else { return }
        // The last access unit lasts as long as the others on average.
        let seconds = (span.upperBound - span.lowerBound).inSeconds * Double(count) / Double(count - 1)
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
