import Testing
import CamPlatform

@testable import CamRecorder

/// Latencies between fixed bounds.
struct LatencyBucketsTests {
    @Test("a latency counts under the lowest bound that it does not exceed")
    func buckets() throws {
        let latencies = LatencyBuckets()
        #expect(latencies.snapshot == nil)
        for time in [.zero, .milliseconds(1), .nanoseconds(1_000_001), .seconds(5), .seconds(6)] as [Duration]
        {
            latencies.record(time)
        }
        latencies.record(.milliseconds(-1))
        let snapshot = try #require(latencies.snapshot)
        #expect(snapshot.counts == [3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
        #expect(snapshot.counts.count == snapshot.bounds.count + 1)
        #expect(snapshot.bounds.first == 0.001 && snapshot.bounds.last == 5)
        #expect(abs(snapshot.sum - 11.002000001) < 1e-9)
    }
}
