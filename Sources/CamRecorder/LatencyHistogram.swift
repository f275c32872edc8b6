import CamPlatform

/// Durations in fixed memory, whatever their number: 32 buckets per octave, so percentiles are accurate to 4 %.
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
