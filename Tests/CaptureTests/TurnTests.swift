import Testing
import CamPlatform

@Suite("turns of threads")
struct TurnTests {
    @Test("one at a time, and nobody waits beyond the deadline")
    func turns() {
        let turn = TimedLock()
        #expect(turn.take(until: .now))
        #expect(!turn.take(until: .now + .milliseconds(10)))
        turn.giveBack()
        #expect(turn.take(until: .now))
    }
}
