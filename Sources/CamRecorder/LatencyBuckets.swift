import CamControlProtocol
import Synchronization
import CamPlatform

/// How many latencies lie between fixed bounds, for monitoring; any thread may read it during a recording.
final class LatencyBuckets: Sendable {
    /// Each bucket's largest latency; one more bucket has what is above the last.
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

    /// What was recorded so far; nil if nothing was.
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
