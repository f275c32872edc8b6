import Testing

@testable import Output

/// When the next attempt is due, and what an outage reports at its end.
@Suite struct SegmentOutageTests {
    private static let second: Int64 = 1_000_000_000
    private let error = OutputError(.diskFull, output: "a.h264")

    /// Fails every attempt in a range of seconds.
    /// - Returns: when there were attempts.
    private func attempts(_ outage: inout SegmentOutage, failing: Range<Int64>) -> [Int64] {
        failing.filter { second in
            let now = second * Self.second
            guard outage.allowsAttempt(at: now) else { return false }
            if !outage.isActive { outage.begin(with: error, isReported: true, at: now) }
            outage.postpone(at: now, skipsPause: false)
            return true
        }
    }

    @Test("pauses grow from one second to ten")
    func pauses() {
        var outage = SegmentOutage()
        #expect(outage.allowsAttempt(at: .min))
        #expect(attempts(&outage, failing: 0..<46) == [0, 1, 3, 7, 15, 25, 35, 45])
        #expect(!outage.allowsAttempt(at: 55 * Self.second - 1))
        #expect(outage.allowsAttempt(at: 55 * Self.second))
    }

    @Test(
        "an outage within ten seconds of another continues with its pauses, a later one begins with a short pause"
    )
    func outageAfterOutage() {
        for (begin, expected) in [Int64(19): [Int64(19), 27], 20: [20, 21, 23, 27]] {
            var outage = SegmentOutage()
            #expect(attempts(&outage, failing: 0..<7) == [0, 1, 3])
            _ = outage.end(at: 10 * Self.second, path: "a.h264")
            #expect(outage.allowsAttempt(at: 10 * Self.second))
            #expect(attempts(&outage, failing: begin..<30) == expected)
        }
    }

    @Test("where the cause may be gone, the next attempt is made at once, and the pauses grow all the same")
    func skippedPause() {
        var outage = SegmentOutage()
        outage.begin(with: error, isReported: true, at: 0)
        outage.postpone(at: 0, skipsPause: true)
        #expect(outage.allowsAttempt(at: 0))
        outage.postpone(at: 0, skipsPause: false)
        #expect(!outage.allowsAttempt(at: 2 * Self.second - 1))
        #expect(outage.allowsAttempt(at: 2 * Self.second))
    }

    @Test("its end reports what was lost in it, or only the file if its beginning was not reported")
    func end() {
        var outage = SegmentOutage()
        outage.lose(7)
        for (isReported, event) in [
            (true, SegmentEvent.resumed(path: "b.h264", lost: 5)), (false, .began(path: "b.h264")),
        ] {
            outage.begin(with: error, isReported: isReported, at: 0)
            #expect(outage.isActive && outage.error == error)
            outage.lose(2)
            outage.lose(3)
            #expect(outage.end(at: 0, path: "b.h264") == event)
            #expect(!outage.isActive && outage.error == nil)
        }
    }
}
