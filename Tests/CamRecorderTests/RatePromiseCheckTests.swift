import Bitstream
import Testing
import CamPlatform

@testable import Encoder
@testable import CamRecorder

/// Detecting an encoder that does not hold its rate.
@Suite struct RatePromiseCheckTests {
    private static let second: Int64 = 1_000_000_000

    private func promise(maximum: Int, average: Int = 80_000) -> RatePromise {
        RatePromise(
            average: average, maximum: maximum, window: 1, bitsInWindow: maximum * 102 / 100,
            bitsAboveAverage: 10_000, isAverageWanted: true, isMaximumWanted: true)
    }

    /// This many access units of 1000 bytes, ten a second from a given time on.
    private func add(_ count: Int, from second: Int64, bytes: Int = 1000, to record: inout RatePromiseCheck) {
        for number in 0..<count {
            let time = Instant.start + .seconds(second) + .milliseconds(100) * number
            record.add(accessUnit(number: number, timestamp: time, length: bytes - 4), playedAt: time)
        }
    }

    @Test("limits that were held are not a breach, and the numbers are the stream's")
    func held() {
        var record = RatePromiseCheck()
        record.begin(promise(maximum: 80_000))
        add(50, from: 0, to: &record)
        let outcome = record.outcome(bits: 400_000, seconds: 5)
        #expect(outcome.average == 80_000)
        #expect(outcome.worstWindow == 80_000)
        #expect((outcome.brokenWindow, outcome.brokenAverage) == (nil, nil))
    }

    @Test("no average exceeds the fullest window, however short the stream")
    func shorterThanWindow() {
        var record = RatePromiseCheck()
        record.begin(promise(maximum: 80_000))
        add(5, from: 0, bytes: 100, to: &record)
        let outcome = record.outcome(bits: 4000, seconds: 0.5)
        #expect(outcome.average == 8000 && outcome.worstWindow == 8000 && outcome.brokenWindow == nil)
    }

    @Test("one overfull window is a breach, wherever it begins")
    func broken() {
        var record = RatePromiseCheck()
        record.begin(promise(maximum: 80_000))
        add(17, from: 0, to: &record)
        let late = Instant.start + .milliseconds(1700)
        record.add(accessUnit(timestamp: late, length: 2000 - 4), playedAt: late)
        add(17, from: 2, to: &record)
        let outcome = record.outcome(bits: 288_000, seconds: 3.7)
        #expect(outcome.brokenWindow == 88_000)
        #expect(outcome.brokenMaximum == 80_000)
    }

    @Test("an average above five per cent and the bucket is a breach, each of its own time")
    func average() {
        func outcome(_ bytes: Int, thenLower: Bool = false) -> RecordingOutcome.Rate {
            var record = RatePromiseCheck()
            record.begin(promise(maximum: 200_000))
            add(100, from: 0, bytes: bytes, to: &record)
            // A lower rate does not apply to what came before.
            if thenLower {
                record.begin(promise(maximum: 200_000, average: 8000))
                add(100, from: 10, bytes: 100, to: &record)
            }
            return record.outcome(bits: bytes * 800, seconds: 10)
        }
        #expect(outcome(1062).brokenAverage == nil)
        let broken = outcome(1063)
        #expect((broken.brokenAverage, broken.wantedAverage) == (85_040, 80_000))
        #expect(outcome(1062, thenLower: true).brokenAverage == nil)
        #expect(outcome(1063, thenLower: true).wantedAverage == 80_000)
        #expect(outcome(1062, thenLower: true).hasChanged)
    }

    @Test("reports the worst of several breaches", arguments: [false, true])
    func severalBreaches(worstFirst: Bool) {
        var record = RatePromiseCheck()
        let maxima = worstFirst ? [40_000, 70_000] : [70_000, 40_000]
        for (number, maximum) in maxima.enumerated() {
            record.begin(promise(maximum: maximum))
            add(20, from: Int64(2 * number), to: &record)
        }
        let outcome = record.outcome(bits: 0, seconds: nil)
        #expect((outcome.brokenWindow, outcome.brokenMaximum) == (80_000, 40_000))
    }

    @Test("holds each promise to its own time, and keeps an earlier one's breach")
    func changed() {
        var record = RatePromiseCheck()
        record.begin(promise(maximum: 80_000))
        add(20, from: 0, to: &record)
        // A window across the change belongs to neither.
        record.begin(promise(maximum: 160_000))
        add(20, from: 2, bytes: 2000, to: &record)
        #expect(record.outcome(bits: 0, seconds: nil).brokenWindow == nil)
        record.begin(promise(maximum: 40_000))
        add(10, from: 4, to: &record)
        record.begin(promise(maximum: 500_000))
        add(10, from: 5, to: &record)
        let outcome = record.outcome(bits: 0, seconds: nil)
        #expect((outcome.brokenWindow, outcome.brokenMaximum) == (80_000, 40_000))
        #expect(outcome.worstWindow == 160_000)
    }
}
