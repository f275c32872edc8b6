/// A histogram of latencies. Property names are JSON keys.
public struct LatencyCounts: Codable, Sendable {
    /// Each bucket's largest latency, in seconds.
    public let bounds: [Double]
    /// Latencies in each bucket, and above the last bound.
    public let counts: [Int]
    /// All latencies, in seconds.
    public let sum: Double

    /// Creates counts; there is one more than bounds.
    public init(bounds: [Double], counts: [Int], sum: Double) {
        (self.bounds, self.counts, self.sum) = (bounds, counts, sum)
    }
}
