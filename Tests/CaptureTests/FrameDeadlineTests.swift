import Testing

@testable import Capture

/// When a camera counts as frozen.
@Suite struct FrameDeadlineTests {
    private static let second: Int64 = 1_000_000_000
    private let clock = ScriptedClock()

    private func isOver(_ deadline: inout FrameDeadline) -> Bool { deadline.isOver() }

    private func deadline() -> FrameDeadline {
        var deadline = FrameDeadline(clock: clock, frameDuration: Self.second / 10)
        deadline.renew(isFirst: false)
        return deadline
    }

    @Test("expires two seconds and five frames after the last frame")
    func usual() {
        var deadline = deadline()
        #expect(deadline.patience == 5 * Self.second / 2)
        clock.pass(5 * Self.second / 2 - 1)
        #expect(!isOver(&deadline))
        clock.pass(1)
        #expect(isOver(&deadline))
    }

    @Test("restarts the time once after the process was stopped, for example by SIGSTOP")
    func stopped() {
        var deadline = deadline()
        clock.pass(3600 * Self.second)
        #expect(!isOver(&deadline))
        #expect(deadline.time == clock.now() + deadline.patience)
        clock.pass(deadline.patience)
        #expect(isOver(&deadline))
    }

    @Test("restarts it after suspension too, though the monotonic clock stood still")
    func suspended() {
        var deadline = deadline()
        clock.suspension = 3600 * Self.second
        clock.pass(deadline.patience)
        #expect(!isOver(&deadline))
        clock.pass(deadline.patience)
        #expect(isOver(&deadline))
    }
}
