import TestSupport
import Testing
import CamPlatform
@testable import CamStorage
@testable import Containers

/// Reports of repeated failures.
@Suite struct OutputFileReporterTests {
    private let first = OutputError(.diskFull, output: "a.h264")
    private let second = OutputError(.removed, output: "b.h264")

    @Test("a failure that repeats is reported once in ten seconds; timestamps have a limit of their own")
    func repeated() {
        let clock = ScriptedTime(now: .start)
        var events: [SegmentEvent] = []
        var reporter = OutputFileReporter(
            clock: clock, handler: { events.append($0) })
        let isReported = [reporter.reportInterruption(first), reporter.reportInterruption(first)]
        #expect(isReported == [true, false])
        reporter.noteIncomplete(first)
        #expect(events == [.interrupted(first)])
        for _ in 0..<2 { reporter.noteTimestamps(second) }
        #expect(events == [.interrupted(first), .interrupted(second)])
        clock.pass(.seconds(10))
        reporter.noteIncomplete(second)
        #expect(events.count == 3)
        reporter.report(.began(path: "c.h264"))
        #expect(events.last == .began(path: "c.h264"))
    }

    @Test("the first incomplete file, or missing timestamps, is the failure; an interruption is not")
    func failure() {
        var reporter = OutputFileReporter(clock: SystemTime(), handler: { _ in })
        _ = reporter.reportInterruption(first)
        #expect(reporter.failure == nil)
        reporter.noteTimestamps(second)
        reporter.noteIncomplete(first)
        #expect(reporter.failure == second)
    }
}
