import Testing
import CamPlatform

@testable import camplay

/// The line of statistics.
@Suite struct StatisticsMeterTests {
    /// What it says after a second of 21 pictures, all but the last of which arrived this long ago.
    private func items(isLive: Bool, delay: Duration?) -> [String] {
        var meter = StatisticsMeter(isLive: isLive)
        var statistics = Presentation.Statistics()
        for number in 0..<20 {
            statistics.totals.bytes += 12_500
            let now = Instant.start + .milliseconds(1 + number * 50)
            meter.add(arrival: delay.map { now - $0 }, statistics, at: now)
        }
        statistics.totals.bytes += 12_500
        statistics.lateCount = 1
        (statistics.totals.losses, statistics.totals.missing, statistics.totals.skipped) = (2, 3, 4)
        meter.add(arrival: nil, statistics, at: .start + .milliseconds(1001))
        return meter.items
    }

    @Test("shows the last second's rate, bit rate, longest delay and hidden pictures")
    func second() {
        #expect(
            items(isLive: true, delay: .milliseconds(40)) == [
                "21.0 fps", "2.1 Mbit/s", "40.0 ms", "late 1", "skipped 4", "lost 2", "frozen 3",
            ])
    }

    @Test("shows no delay for a file")
    func file() { #expect(!items(isLive: false, delay: .milliseconds(40)).contains { $0.hasSuffix("ms") }) }

    @Test("pictures without an arrival time have no delay, and any time is accepted")
    func strangeTimes() {
        #expect(items(isLive: true, delay: nil).contains("0.0 ms"))
        var meter = StatisticsMeter(isLive: true)
        for arrival in [Instant.distantPast, .distantFuture] {
            meter.add(arrival: arrival, Presentation.Statistics(), at: .start)
            meter.add(arrival: arrival, Presentation.Statistics(), at: .start + .seconds(3))
        }
        #expect(meter.items.count == 7)
    }

    @Test("breaks a long line between its parts")
    func lines() {
        var meter = StatisticsMeter(isLive: false)
        #expect(meter.lines(of: 100) == ["..."])
        meter.add(arrival: nil, Presentation.Statistics(), at: .start)
        meter.add(arrival: nil, Presentation.Statistics(), at: .start + .seconds(1))
        #expect(meter.lines(of: 100) == ["2.0 fps  0.0 Mbit/s  late 0  skipped 0  lost 0  frozen 0"])
        #expect(meter.lines(of: 20) == ["2.0 fps  0.0 Mbit/s", "late 0  skipped 0", "lost 0  frozen 0"])
        #expect(meter.lines(of: 1).count == 6)
    }
}
