import Testing
import CamPlatform

@testable import Capture

/// When a camera counts as frozen.
@Suite struct FrameDeadlineTests {
    private let clock = ScriptedClock()

    private func isOver(_ deadline: inout FrameDeadline) -> Bool { deadline.isOver() }

    private func deadline() -> FrameDeadline {
        var deadline = FrameDeadline(clock: clock, frameDuration: .milliseconds(100))
        deadline.renew(isFirst: false)
        return deadline
    }

    @Test("expires two seconds and five frames after the last frame")
    func usual() {
        var deadline = deadline()
        #expect(deadline.patience == .milliseconds(2500))
        clock.pass(.milliseconds(2500) - .nanoseconds(1))
        #expect(!isOver(&deadline))
        clock.pass(.nanoseconds(1))
        #expect(isOver(&deadline))
    }

    @Test("restarts the time once after the process was stopped, for example by SIGSTOP")
    func stopped() {
        var deadline = deadline()
        clock.pass(.seconds(3600))
        #expect(!isOver(&deadline))
        #expect(deadline.time == clock.now + deadline.patience)
        clock.pass(deadline.patience)
        #expect(isOver(&deadline))
    }

    @Test("restarts it after suspension too, though the monotonic clock stood still")
    func suspended() {
        var deadline = deadline()
        clock.suspendedTime = .seconds(3600)
        clock.pass(deadline.patience)
        #expect(!isOver(&deadline))
        clock.pass(deadline.patience)
        #expect(isOver(&deadline))
    }
}
