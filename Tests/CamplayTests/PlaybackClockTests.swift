import Testing
import CamPlatform

@testable import camplay

@Suite struct PlaybackClockTests {
    private static func at(_ nanoseconds: Int64) -> Instant { Instant(nanoseconds: nanoseconds) }

    @Test("the first picture is due at once, wherever it is in the file, and the others follow it")
    func first() {
        var clock = PlaybackClock()
        #expect(clock.lateness(of: .nanoseconds(500), now: Self.at(1000)) == nil)
        #expect(clock.remaining(until: .nanoseconds(500), now: Self.at(1000)) == .zero)
        #expect(clock.remaining(until: .nanoseconds(540), now: Self.at(1010)) == .nanoseconds(30))
        #expect(clock.lateness(of: .nanoseconds(540), now: Self.at(1045)) == .nanoseconds(5))
    }

    @Test("a moment is known from the first picture on, and not in a pause")
    func moment() {
        var clock = PlaybackClock()
        #expect(clock.moment(of: .nanoseconds(600)) == nil)
        _ = clock.remaining(until: .nanoseconds(500), now: Self.at(1000))
        #expect(clock.moment(of: .nanoseconds(600)) == Self.at(1100))
        clock.togglePause(now: Self.at(1050))
        #expect(clock.moment(of: .nanoseconds(600)) == nil)
        clock.togglePause(now: Self.at(1250))
        #expect(clock.moment(of: .nanoseconds(600)) == Self.at(1300))
        clock.restart()
        #expect(clock.moment(of: .nanoseconds(600)) == nil)
    }

    @Test("each pause delays what follows")
    func pauses() {
        var clock = PlaybackClock()
        _ = clock.remaining(until: .nanoseconds(0), now: Self.at(1000))
        for (begins, ends) in [(1010, 1110), (1150, 1250)] as [(Int64, Int64)] {
            clock.togglePause(now: Self.at(begins))
            #expect(clock.isPaused)
            clock.togglePause(now: Self.at(ends))
            #expect(!clock.isPaused)
        }
        #expect(clock.remaining(until: .nanoseconds(100), now: Self.at(1250)) == .nanoseconds(50))
    }

    @Test("after a jump during a pause, only the time after the jump counts")
    func jumpInPause() {
        var clock = PlaybackClock()
        _ = clock.remaining(until: .nanoseconds(0), now: Self.at(1000))
        clock.togglePause(now: Self.at(1010))
        clock.restart()
        #expect(clock.lateness(of: .nanoseconds(0), now: Self.at(5000)) == nil)
        #expect(clock.remaining(until: .nanoseconds(90_000), now: Self.at(5000)) == .zero)
        clock.togglePause(now: Self.at(5020))
        #expect(clock.remaining(until: .nanoseconds(90_040), now: Self.at(5020)) == .nanoseconds(40))
    }

    @Test(
        "a clock that is held shows the first picture, and begins when it is released, or when patience ends")
    func hold() {
        var clock = PlaybackClock()
        clock.hold(patience: .nanoseconds(400))
        #expect(clock.holdEnd == nil)
        #expect(clock.remaining(until: .nanoseconds(500), now: Self.at(1000)) == .zero)
        #expect(clock.holdEnd == Self.at(1400))
        #expect(clock.moment(of: .nanoseconds(500)) == nil)
        clock.release(now: Self.at(1200), after: .nanoseconds(30))
        #expect(clock.holdEnd == nil)
        #expect(clock.moment(of: .nanoseconds(540)) == Self.at(1270))
        clock.release(now: Self.at(1300), after: .zero)
        #expect(clock.moment(of: .nanoseconds(540)) == Self.at(1270))
    }

    @Test(
        "a pause that begins while the clock is held ends when the viewer says so", arguments: [true, false])
    func pauseInHold(resumesFirst: Bool) {
        var clock = PlaybackClock()
        clock.hold(patience: .nanoseconds(400))
        _ = clock.remaining(until: .zero, now: Self.at(1000))
        clock.togglePause(now: Self.at(1010))
        if resumesFirst { clock.togglePause(now: Self.at(1020)) }
        clock.release(now: Self.at(1100), after: .zero)
        if !resumesFirst { clock.togglePause(now: Self.at(1200)) }
        #expect(clock.moment(of: .nanoseconds(40)) == Self.at(resumesFirst ? 1140 : 1240))
    }

    @Test("a loudspeaker that is ready before the first picture delays what follows that picture")
    func readyFirst() {
        var clock = PlaybackClock()
        clock.hold(patience: .nanoseconds(400))
        clock.release(now: Self.at(900), after: .nanoseconds(30))
        #expect(clock.remaining(until: .nanoseconds(500), now: Self.at(1000)) == .zero)
        #expect(clock.moment(of: .nanoseconds(500)) == Self.at(1030))
    }
}
