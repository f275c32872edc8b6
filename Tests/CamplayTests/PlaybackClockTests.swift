import Testing

@testable import camplay

@Suite struct PlaybackClockTests {
    @Test("the first picture is due at once, wherever it is in the file, and the others follow it")
    func first() {
        var clock = PlaybackClock()
        #expect(clock.lateness(of: 500, now: 1000) == nil)
        #expect(clock.remaining(until: 500, now: 1000) == 0)
        #expect(clock.remaining(until: 540, now: 1010) == 30)
        #expect(clock.lateness(of: 540, now: 1045) == 5)
    }

    @Test("each pause delays what follows")
    func pauses() {
        var clock = PlaybackClock()
        _ = clock.remaining(until: 0, now: 1000)
        for (begins, ends) in [(1010, 1110), (1150, 1250)] as [(Int64, Int64)] {
            clock.togglePause(now: begins)
            #expect(clock.isPaused)
            clock.togglePause(now: ends)
            #expect(!clock.isPaused)
        }
        #expect(clock.remaining(until: 100, now: 1250) == 50)
    }

    @Test("after a jump during a pause, only the time after the jump counts")
    func jumpInPause() {
        var clock = PlaybackClock()
        _ = clock.remaining(until: 0, now: 1000)
        clock.togglePause(now: 1010)
        clock.restart(now: 5000)
        #expect(clock.lateness(of: 0, now: 5000) == nil)
        #expect(clock.remaining(until: 90_000, now: 5000) == 0)
        clock.togglePause(now: 5020)
        #expect(clock.remaining(until: 90_040, now: 5020) == 40)
    }
}
