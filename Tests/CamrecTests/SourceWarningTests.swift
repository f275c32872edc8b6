import Testing

@testable import camrec

/// What the end of a recording says about times without pictures.
@Suite struct SourceWarningTests {
    private func warnings(
        outages: Int, lost: Double = 0, away: Double = 0, standstills: Int = 0, stopped: Double = 0,
        suspended: Double = 0
    ) -> [String] {
        RecordingResult.Source(
            restarts: 7, outages: outages, secondsLost: lost, secondsAwayAtEnd: away,
            standstills: standstills,
            secondsStopped: stopped, secondsSuspended: suspended, correctedTimes: 0
        ).warnings
    }

    @Test("a camera that never came back was away, however often it was reopened")
    func away() {
        #expect(
            warnings(outages: 1, lost: 25.6, away: 25.6) == ["the camera was away for 25.6 s until the end"])
        #expect(
            warnings(outages: 3, lost: 30, away: 25.6) == [
                "the camera failed and came back (2 times): 4.4 s without a picture",
                "the camera was away for 25.6 s until the end",
            ])
    }

    @Test("a camera that came back says so")
    func back() {
        #expect(
            warnings(outages: 1, lost: 2.5) == [
                "the camera failed and came back (1 time): 2.5 s without a picture"
            ])
        #expect(warnings(outages: 0).isEmpty)
    }

    @Test("a standstill is no failure of the camera")
    func standstill() {
        #expect(
            warnings(outages: 1, standstills: 1, stopped: 3.9) == ["camrec was stopped for 3.9 s"])
        #expect(
            warnings(outages: 3, lost: 1, standstills: 3, stopped: 3.9, suspended: 60) == [
                "the machine was suspended for 60.0 s and camrec was stopped for 3.9 s (3 times)"
            ])
    }
}
