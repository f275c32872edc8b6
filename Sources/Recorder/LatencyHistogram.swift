/// Durations in fixed memory, whatever their number: 32 buckets per octave, so percentiles are accurate to 4 %.
struct LatencyHistogram: Sendable {
    private var buckets = Array(repeating: 0, count: 32 * 64)
    private(set) var count = 0
    /// Nanoseconds.
    private(set) var maximum: Int64 = 0

    mutating func record(_ nanoseconds: Int64) {
        let value = max(0, nanoseconds)
        buckets[Self.bucket(of: UInt64(value))] += 1
        count += 1
        maximum = max(maximum, value)
    }

    /// Returns the time that `fraction` of the values do not exceed, in nanoseconds, or nil if there are no values.
    func percentile(_ fraction: Double) -> Int64? {
        guard count > 0 else { return nil }
        let rank = max(1, Int((Double(count) * fraction).rounded(.up)))
        var seen = 0
        for (index, bucketCount) in buckets.enumerated() {
            seen += bucketCount
            if seen >= rank { return min(maximum, Self.upperBound(of: index)) }
        }
        return maximum
    }

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
