import Testing
import CamPlatform

/// Pauses between attempts.
@Suite struct BackOffTests {
    @Test("each pause is twice the previous one, up to the longest")
    func growth() {
        var backOff = BackOff(first: .seconds(1), longest: .seconds(5))
        let pauses = (0..<5).map { _ in backOff.next() }
        #expect(pauses == [1, 2, 4, 5, 5].map { .seconds($0) })
    }

    @Test("an attempt that works for a while resets the pause, one that works briefly does not")
    func steadiness() {
        var backOff = BackOff(longest: .seconds(4), steadiness: .seconds(10))
        _ = (backOff.next(), backOff.next())
        let brief = backOff.noteSuccess(lasting: .seconds(10) - .nanoseconds(1))
        #expect(!brief)
        let afterBrief = backOff.next()
        #expect(afterBrief == .seconds(1))
        let steady = backOff.noteSuccess(lasting: .seconds(10))
        #expect(steady)
        let afterSteady = backOff.next()
        #expect(afterSteady == .milliseconds(250))
    }
}
