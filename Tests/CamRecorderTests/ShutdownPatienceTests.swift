import Testing
import CamPlatform

@testable import CamRecorder

/// Outputs that hang, at scripted times.
@Suite struct ShutdownPatienceTests {
    private struct Step: Equatable {
        let second: Int
        let step: ShutdownPatience.Step
    }

    /// Checks once a second, and returns the seconds at which something must be done.
    private func steps(
        isAttended: Bool = false, stopAt stop: Int? = nil, for seconds: Int = 200,
        progress: (Int) -> ShutdownPatience.Progress
    ) -> [Step] {
        var stall = ShutdownPatience(isAttended: isAttended)
        var steps: [Step] = []
        for second in 0..<seconds {
            if second == stop { stall.stop() }
            let step = stall.step(progress(second), at: .start + .seconds(7000 + second))
            if step != .wait { steps.append(Step(second: second, step: step)) }
            if step == .abandon { break }
        }
        return steps
    }

    private static func progress(
        written: Int = 0, hasUnwritten: Bool = true, isEncoded: Bool = true
    ) -> ShutdownPatience.Progress {
        ShutdownPatience.Progress(written: written, hasUnwritten: hasUnwritten, isEncoded: isEncoded)
    }

    @Test("while pictures come, a stalled output is left alone")
    func recording() {
        #expect(steps { _ in Self.progress(isEncoded: false) } == [])
    }

    @Test("after a signal it is interrupted in 5 s, and abandoned 15 s later")
    func stop() {
        let steps = steps(isAttended: true, stopAt: 30) { _ in Self.progress(isEncoded: false) }
        #expect(steps == [Step(second: 35, step: .interrupt), Step(second: 51, step: .abandon)])
    }

    @Test("unattended: at the end of the pictures it is interrupted in 60 s, and abandoned 15 s later")
    func unattended() {
        let steps = steps { second in Self.progress(isEncoded: second >= 10) }
        #expect(steps == [Step(second: 70, step: .interrupt), Step(second: 86, step: .abandon)])
    }

    @Test("attended: at the end of the pictures it waits until asked to stop")
    func attended() {
        #expect(steps(isAttended: true) { _ in Self.progress() } == [])
    }

    @Test("waits for an output that makes progress, however slowly")
    func slow() {
        #expect(steps(stopAt: 0) { second in Self.progress(written: second / 4) } == [])
    }

    @Test("the wait begins with the last access unit written")
    func lastProgress() {
        let steps = steps(stopAt: 0) { second in Self.progress(written: min(second, 40)) }
        #expect(steps.first == Step(second: 45, step: .interrupt))
    }

    @Test("with nothing left to write no output is given up")
    func done() {
        #expect(steps(stopAt: 0) { _ in Self.progress(hasUnwritten: false) } == [])
    }

    @Test("a signal during the last wait ends it sooner")
    func stopLate() {
        let steps = steps(stopAt: 62) { _ in Self.progress() }
        #expect(steps == [Step(second: 60, step: .interrupt), Step(second: 67, step: .abandon)])
    }
}
