import Testing
import CamPlatform

@testable import CamRecorder

@Suite struct LatencyHistogramTests {
    @Test("has no percentile without values")
    func empty() { #expect(LatencyHistogram().percentile(0.5) == nil) }

    @Test("one value is every percentile", arguments: [0, 1, 31, 32, 33, 1_000_000, Int64.max] as [Int64])
    func one(value: Int64) {
        var histogram = LatencyHistogram()
        histogram.record(.nanoseconds(value))
        for fraction in [0, 0.5, 0.99, 1] { #expect(histogram.percentile(fraction) == .nanoseconds(value)) }
        #expect(histogram.maximum == .nanoseconds(value))
    }

    @Test("counts a negative time, from a bad clock, as zero", arguments: [-1, Int64.min])
    func negative(value: Int64) {
        var histogram = LatencyHistogram()
        histogram.record(.nanoseconds(value))
        #expect(histogram.percentile(1) == .zero)
    }

    @Test("percentiles are at most 4 % above the value of that rank, and never below it")
    func precision() throws {
        for scale in [Int64(1), 7, 1000, 123_457, 1_000_000_000] {
            var histogram = LatencyHistogram()
            for value in 1...1000 { histogram.record(.nanoseconds(Int64(value) * scale)) }
            for (fraction, rank) in [(0.5, 500), (0.99, 990), (1.0, 1000), (0.001, 1)] {
                let found = try #require(histogram.percentile(fraction)).inNanoseconds
                let exact = Int64(rank) * scale
                #expect(found >= exact)
                #expect(Double(found) <= Double(exact) * 1.04)
            }
        }
    }

    @Test("every power of two and its neighbours fall into the right bucket")
    func buckets() {
        for shift in 0..<63 {
            for value in [
                (Int64(1) << Int64(shift)) - 1, Int64(1) << Int64(shift), (Int64(1) << Int64(shift)) + 1,
            ] {
                var histogram = LatencyHistogram()
                histogram.record(.nanoseconds(value))
                histogram.record(.nanoseconds(Int64.max))
                let found = histogram.percentile(0.5)?.inNanoseconds ?? -1
                #expect(found >= value && Double(found) <= Double(value) * 1.04 + 1)
            }
        }
    }
}
