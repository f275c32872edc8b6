import Testing

@testable import Recorder

/// What a watchdog is told.
@Suite struct LivenessTests {
    private var before = Liveness.Progress(captured: 10, tries: 0, encoded: 9, written: 8)

    /// Whether a recording that had come to `before` is alive after the change.
    private func isAlive(_ change: (inout Liveness.Progress) -> Void) -> Bool {
        var liveness = Liveness()
        _ = liveness.isAlive(after: before)
        var now = before
        change(&now)
        return liveness.isAlive(after: now)
    }

    @Test("the first look finds life")
    func first() {
        var liveness = Liveness()
        let isAlive = liveness.isAlive(after: before)
        #expect(isAlive)
    }

    @Test("frames that come through all threads are life")
    func flowing() {
        #expect(isAlive { ($0.captured, $0.encoded, $0.written) = (20, 19, 18) })
    }

    @Test("no thread does anything: dead")
    func still() { #expect(!isAlive { _ in }) }

    @Test("frames that come and are not encoded: dead")
    func frozenEncoder() { #expect(!isAlive { $0.captured = 20 }) }

    @Test("access units that wait and are not written: dead")
    func frozenWriter() {
        #expect(!isAlive { ($0.captured, $0.encoded, $0.hasUnwritten) = (20, 19, true) })
    }

    @Test("a writer without work is alive, as when receivers are all there is and none has come")
    func idleWriter() { #expect(isAlive { ($0.captured, $0.encoded) = (20, 19) }) }

    @Test("a camera that is looked for is life, though nothing is encoded")
    func absentCamera() { #expect(isAlive { $0.tries = 1 }) }
}
