import Testing
import CamPlatform

@testable import CamRecorder

/// The signals that a watchdog gets.
@Suite struct LivenessTests {
    private var before = Liveness.Progress(captured: 10, tries: 0, encoded: 9)

    /// Whether a recording that had come to `before` is alive after the change.
    private func isAlive(_ change: (inout Liveness.Progress) -> Void) -> Bool {
        var liveness = Liveness(frameInterval: .seconds(10))
        _ = liveness.isAlive(after: before, at: .start)
        var now = before
        change(&now)
        return liveness.isAlive(after: now, at: .start + .seconds(20))
    }

    @Test("the first check finds the recording alive")
    func first() {
        var liveness = Liveness(frameInterval: .seconds(10))
        let isAlive = liveness.isAlive(after: before, at: .start)
        #expect(isAlive)
    }

    @Test("counts checks within two frame intervals as one, for example at one frame in ten seconds")
    func slow() {
        var liveness = Liveness(frameInterval: .seconds(10))
        let looks = stride(from: 0, through: 50, by: 5).map {
            liveness.isAlive(after: before, at: .start + .seconds($0))
        }
        #expect(looks == [true, true, true, true] + Array(repeating: false, count: 7))
    }

    @Test("is alive if frames arrive and are encoded, whatever the disks do")
    func flowing() { #expect(isAlive { ($0.captured, $0.encoded) = (20, 19) }) }

    @Test("is dead if no thread does anything")
    func still() { #expect(!isAlive { _ in }) }

    @Test("is dead if frames arrive but are not encoded")
    func frozenEncoder() { #expect(!isAlive { $0.captured = 20 }) }

    @Test("encoded frames may take their time to be written")
    func finishing() { #expect(isAlive { $0.isEncoded = true }) }

    @Test("a frozen camera is noticed at its own pace, although a time lapse encodes rarely")
    func lapse() {
        var liveness = Liveness(frameInterval: .milliseconds(100), encodingInterval: .seconds(60))
        _ = liveness.isAlive(after: before, at: .start)
        var now = before
        now.captured = 100
        let whileBetween = liveness.isAlive(after: now, at: .start + .seconds(30))
        #expect(whileBetween)
        let whileFrozen = liveness.isAlive(after: now, at: .start + .seconds(60))
        #expect(!whileFrozen)
    }

    @Test("an encoder that stands still is noticed in a time lapse, too")
    func lapseEncoder() {
        var liveness = Liveness(frameInterval: .milliseconds(100), encodingInterval: .seconds(60))
        _ = liveness.isAlive(after: before, at: .start)
        var now = before
        now.captured = 1000
        let isAlive = liveness.isAlive(after: now, at: .start + .seconds(120))
        #expect(!isAlive)
    }

    @Test("is alive while it looks for a lost camera, although nothing is encoded")
    func absentCamera() { #expect(isAlive { $0.tries = 1 }) }
}
