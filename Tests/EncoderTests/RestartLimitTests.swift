import Testing
import CamPlatform

@testable import Encoder

/// How often a failing encoder is reopened.
@Suite struct RestartLimitTests {
    private func instant(_ second: Int) -> Instant { .start + .seconds(second) }

    @Test("the first restart is immediate, the next a second after the last")
    func pauses() {
        var limit = RestartLimit()
        #expect(limit.pause(at: .start) == nil)
        limit.count(at: instant(10))
        #expect(limit.pause(at: instant(10)) == instant(11))
        #expect(limit.pause(at: instant(11) - .nanoseconds(1)) == instant(11))
        #expect(limit.pause(at: instant(11)) == nil)
    }

    @Test("allows three within a minute, however long it goes on")
    func threeAMinute() {
        var limit = RestartLimit()
        var restarts: [Int] = []
        for second in 0..<300 where limit.allowsAnother(at: instant(second)) {
            restarts.append(second)
            limit.count(at: instant(second))
        }
        #expect(restarts == [0, 1, 2, 60, 61, 62, 120, 121, 122, 180, 181, 182, 240, 241, 242])
    }
}
