import Glibc
import TestSupport
import Testing
import CamPlatform

@testable import CamRecorder

/// A duration is recorded once, however often the process is started.
@Suite final class RecordingDeadlineTests {
    private let temporary = TemporaryFolder()
    private var folder: String { temporary.path }
    private let clock = ScriptedTime(now: .start + .seconds(1000))
    private let hour = Duration.seconds(3600)

    private func deadline(_ duration: Duration, in folder: String?) -> RecordingDeadline {
        RecordingDeadline(duration: duration, folder: folder, clock: clock)
    }

    private func deadline() -> RecordingDeadline { deadline(hour * 10, in: folder) }

    @Test("records the rest after a crash")
    func crash() {
        var first = deadline()
        #expect(first.remaining == nil && !first.isOver)
        #expect(first.begin() == hour * 10)
        clock.pass(hour * 10 - .seconds(300))
        var second = deadline()
        #expect(second.remaining == .seconds(300) && !second.isOver)
        #expect(second.begin() == .seconds(300))
        clock.pass(.seconds(300))
        #expect(second.isOver)
    }

    @Test("does not record a finished duration again")
    func over() {
        var first = deadline()
        _ = first.begin()
        clock.pass(hour * 10)
        #expect(first.isOver && deadline().isOver)
        clock.pass(hour * 100)
        #expect(deadline().isOver)
    }

    @Test("a service that has not begun waits with its whole duration")
    func notBegun() {
        _ = deadline()
        clock.pass(hour)
        #expect(deadline().remaining == nil)
    }

    @Test("another duration is another recording")
    func otherDuration() {
        var first = deadline()
        _ = first.begin()
        #expect(deadline(hour, in: folder).remaining == nil)
        // Near the end of one duration, the rest could belong to the other.
        clock.pass(hour * 10 - .seconds(300))
        #expect(deadline(hour, in: folder).remaining == nil)
    }

    @Test("keeps nothing without a folder")
    func noFolder() {
        for folder in [nil, "/nowhere"] {
            var first = deadline(hour, in: folder)
            #expect(first.begin() == hour)
            clock.pass(hour)
            #expect(first.isOver)
            #expect(deadline(hour, in: folder).remaining == nil)
        }
    }

    @Test(
        "ignores a file that is damaged, or from an earlier boot",
        arguments: [
            "", "x", "5", "1 36000000000000", "99000000000000000 36000000000000\n",
            "-9223372036854775808 36000000000000\n", "9223372036854775807 36000000000000\n",
        ])
    func damaged(text: String) throws {
        let file = try #require(fopen(folder + "/deadline", "w"))
        fputs(text, file)
        fclose(file)
        var deadline = deadline()
        #expect(deadline.remaining == nil && deadline.begin() == hour * 10)
        #expect(self.deadline().remaining == hour * 10)
    }
}
