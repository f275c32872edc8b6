import CamControlProtocol
import CamPlatform
import Synchronization

/// Durations in fixed memory, whatever their number: 32 buckets per octave, so percentiles are accurate
/// to 4 %.
struct LatencyHistogram: Sendable {
    private var buckets = Array(repeating: 0, count: 32 * 64)
    private(set) var count = 0
    private(set) var maximum = Duration.zero

    mutating func record(_ duration: Duration) {
        let duration = max(.zero, duration)
        buckets[Self.bucket(of: UInt64(duration.inNanoseconds))] += 1
        count += 1
        maximum = max(maximum, duration)
    }

    /// Returns the time that `fraction` of the values do not exceed, or nil if there are no values.
    func percentile(_ fraction: Double) -> Duration? {
        guard count > 0 else { return nil }
        let rank = max(1, Int((Double(count) * fraction).rounded(.up)))
        var seen = 0
        for (index, bucketCount) in buckets.enumerated() {
            seen += bucketCount
            if seen >= rank { return min(maximum, .nanoseconds(Self.upperBound(of: index))) }
        }
        return maximum
    }

    /// Returns the bucket of a value in nanoseconds.
    private static func bucket(of value: UInt64) -> Int {
        guard value >= 32 else { return Int(value) }
        let octave = 63 - value.leadingZeroBitCount
        return (octave - 4) * 32 + Int(value >> UInt64(octave - 5) & 31)
    }

    private static func upperBound(of bucket: Int) -> Int64 {
        guard bucket >= 32 else { return Int64(bucket) }
        let octave = bucket / 32 + 4
        return Int64((UInt64(32 + bucket % 32 + 1) << UInt64(octave - 5)) - 1)
    }
}

/// Counts latencies between fixed bounds, for monitoring. Any thread may read the counts during a recording.
final class LatencyBuckets: Sendable {
    /// The largest latency of each bucket; one more bucket holds the latencies above the last bound.
    static let bounds: [Duration] =
        [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].map { .milliseconds($0) }

    private let counts = (0...bounds.count).map { _ in Cell() }
    private let nanoseconds = Cell()

    func record(_ latency: Duration) {
        let latency = max(.zero, latency)
        let bucket = Self.bounds.firstIndex { latency <= $0 } ?? Self.bounds.count
        counts[bucket].value.wrappingAdd(1, ordering: .relaxed)
        nanoseconds.value.wrappingAdd(Int(latency.inNanoseconds), ordering: .relaxed)
    }

    /// The counts so far; nil if nothing was recorded.
    var snapshot: LatencyCounts? {
        let counts = counts.map { $0.value.load(ordering: .relaxed) }
        guard counts.contains(where: { $0 > 0 }) else { return nil }
        return LatencyCounts(
            bounds: Self.bounds.map(\.inSeconds), counts: counts,
            sum: Double(nanoseconds.value.load(ordering: .relaxed)) / 1e9)
    }

    private final class Cell: Sendable {
        let value = Atomic<Int>(0)
    }
}
