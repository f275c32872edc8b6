import TestSupport
import Testing

@testable import CamPlatform

/// Times in which nothing ran.
@Suite struct StandstillTests {
    private let clock = ScriptedTime(now: .start + .seconds(1000))

    @Test("a suspended machine is noticed once, by the clock that went on")
    func suspended() {
        clock.suspendedTime = .seconds(100)
        var watch = StandstillWatch(clock)
        #expect(watch.look(clock, late: .zero) == nil)
        clock.suspendedTime += .milliseconds(3900)
        #expect(watch.look(clock, late: .seconds(5)) == .suspended(.milliseconds(3900)))
        #expect(watch.look(clock, late: .zero) == nil)
    }

    @Test("the clocks, which are read one after the other, may differ a little")
    func tolerance() {
        var watch = StandstillWatch(clock)
        for step in 0..<100 {
            clock.suspendedTime = .milliseconds(step % 2 * 400 - 200)
            #expect(watch.look(clock, late: .zero) == nil)
        }
    }

    @Test("a thread that is much too late did not run")
    func stopped() {
        var watch = StandstillWatch(clock)
        #expect(watch.look(clock, late: .milliseconds(900)) == nil)
        #expect(watch.look(clock, late: .milliseconds(1100), usual: .milliseconds(200)) == nil)
        #expect(
            watch.look(clock, late: .milliseconds(1300), usual: .milliseconds(200))
                == .stopped(.milliseconds(1300)))
    }
}
