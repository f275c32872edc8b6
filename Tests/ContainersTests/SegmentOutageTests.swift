import Testing
import CamPlatform
@testable import CamStorage
@testable import Containers

/// When the next attempt is due, and what an outage reports at its end.
@Suite struct SegmentOutageTests {
    private func instant(_ second: Int64) -> Instant { .start + .seconds(second) }

    private let error = OutputError(.diskFull, output: "a.h264")

    /// Fails every attempt in a range of seconds.
    /// - Returns: when there were attempts.
    private func attempts(_ outage: inout SegmentOutage, failing: Range<Int64>) -> [Int64] {
        failing.filter { second in
            let now = instant(second)
            guard outage.allowsAttempt(at: now) else { return false }
            if !outage.isActive { outage.begin(with: error, isReported: true, at: now) }
            outage.postpone(at: now, skipsPause: false)
            return true
        }
    }

    @Test("pauses grow from one second to ten")
    func pauses() {
        var outage = SegmentOutage()
        #expect(outage.allowsAttempt(at: .distantPast))
        #expect(attempts(&outage, failing: 0..<46) == [0, 1, 3, 7, 15, 25, 35, 45])
        #expect(!outage.allowsAttempt(at: instant(55) - .nanoseconds(1)))
        #expect(outage.allowsAttempt(at: instant(55)))
    }

    @Test(
        "an outage within ten seconds of another continues with its pauses, a later one begins with a short pause"
    )
    func outageAfterOutage() {
        for (begin, expected) in [Int64(19): [Int64(19), 27], 20: [20, 21, 23, 27]] {
            var outage = SegmentOutage()
            #expect(attempts(&outage, failing: 0..<7) == [0, 1, 3])
            _ = outage.end(at: instant(10), path: "a.h264")
            #expect(outage.allowsAttempt(at: instant(10)))
            #expect(attempts(&outage, failing: begin..<30) == expected)
        }
    }

    @Test("if the cause may be gone, the next attempt is immediate, but the pauses still grow")
    func skippedPause() {
        var outage = SegmentOutage()
        outage.begin(with: error, isReported: true, at: instant(0))
        outage.postpone(at: instant(0), skipsPause: true)
        #expect(outage.allowsAttempt(at: instant(0)))
        outage.postpone(at: instant(0), skipsPause: false)
        #expect(!outage.allowsAttempt(at: instant(2) - .nanoseconds(1)))
        #expect(outage.allowsAttempt(at: instant(2)))
    }

    @Test("its end reports what was lost in it, or only the file if its beginning was not reported")
    func end() {
        var outage = SegmentOutage()
        outage.lose(7)
        for (isReported, event) in [
            (true, SegmentEvent.resumed(path: "b.h264", lost: 5)), (false, .began(path: "b.h264")),
        ] {
            outage.begin(with: error, isReported: isReported, at: instant(0))
            #expect(outage.isActive && outage.error == error)
            outage.lose(2)
            outage.lose(3)
            #expect(outage.end(at: instant(0), path: "b.h264") == event)
            #expect(!outage.isActive && outage.error == nil)
        }
    }
}
