import CamPlatform
import Capture
import Containers
import Foundation
import Glibc
import TestSupport
import Testing

@testable import CamRecorder

/// What becomes an event, and how programs are started with events.
@Suite(.hangGuard) struct RecordingEventTests {
    private let folder = TemporaryFolder()

    /// Collects events.
    private final class Heard: @unchecked Sendable {
        // Safe to share: accessed with the lock held.
        private let monitor = Monitor()
        private var list: [RecordingEvent] = []

        var names: [String] { all.map(\.name) }
        var all: [RecordingEvent] { monitor.withLock { list } }

        func events(of camera: String? = "/dev/video0") -> RecordingEvents {
            RecordingEvents(camera: camera) { event in self.monitor.withLock { self.list.append(event) } }
        }
    }

    private let heard = Heard()
    private static let lost = CaptureError(.lost, device: "/dev/video0")
    private static let full = OutputOutage(
        OutputError(.diskFull, output: "a.mkv"), since: .now - .seconds(60))
    private static let gone = OutputOutage(
        OutputError(.volumeGone, output: "a.mkv"), since: .now - .seconds(60))

    @Test("a camera that is waited for is lost once, and back once, after an outage")
    func camera() {
        let events = heard.events()
        for _ in 0..<2 { events.note(.waiting(Self.lost, timeout: nil)) }
        events.note(.resumed(Self.lost, device: "/dev/video1", after: .milliseconds(12_300), suppressed: 0))
        #expect(heard.names == ["camera-lost", "camera-back", "outage-over"])
        #expect(heard.all.map(\.seconds) == [nil, 12.3, 12.3])
        #expect(heard.all.map(\.reason) == Array(repeating: "the camera was disconnected", count: 3))
    }

    @Test("a camera that was unplugged is lost at once, even if the first retry finds it again")
    func unplugged() {
        let events = heard.events()
        events.note(.failed(Self.lost))
        #expect(heard.names == ["camera-lost"])
        events.note(.resumed(Self.lost, device: "d", after: .milliseconds(200), suppressed: 0))
        #expect(heard.names == ["camera-lost", "camera-back", "outage-over"])
    }

    @Test("a stream that the first retry restarts is an outage, but loses no camera")
    func interruption() {
        let (events, silent) = (heard.events(), CaptureError(.silent(for: .seconds(2)), device: "d"))
        events.note(.failed(silent))
        events.note(.resumed(silent, device: "d", after: .milliseconds(200), suppressed: 0))
        #expect(heard.names == ["outage-over"])
    }

    @Test("a camera that is missing at the start is lost, and back when the recording begins")
    func absence() {
        let events = heard.events(of: nil)
        for _ in 0..<3 { events.noteAbsence(CaptureError(.noCamera, device: "")) }
        events.noteBeginning(camera: "/dev/video2")
        #expect(heard.names == ["camera-lost", "camera-back", "recording-began"])
        #expect(heard.all.map(\.camera) == [nil, "/dev/video2", "/dev/video2"])
    }

    @Test("a standstill is an outage")
    func standstill() {
        heard.events().note(.stoodStill(.suspended(.seconds(7))))
        #expect(heard.names == ["outage-over"] && heard.all[0].seconds == 7)
    }

    @Test("a full disk is told of once, even if its cause changes, and when it is free")
    func disk() {
        let events = heard.events()
        let changes = [
            OutageChange(before: nil, after: Self.full), OutageChange(before: Self.full, after: Self.full),
            OutageChange(before: Self.full, after: nil),
        ]
        for change in changes { events.note(.outage(name: "a.mkv", change)) }
        #expect(heard.names == ["disk-full", "disk-free", "outage-over"])
        #expect(heard.all.allSatisfy { $0.output == "a.mkv" })
        #expect((heard.all.last?.seconds ?? 0) >= 60)
    }

    @Test("what keeps an output from being written, other than a full disk, is an outage when it is over")
    func output() {
        let events = heard.events()
        events.note(.outage(name: "a", OutageChange(before: nil, after: Self.gone)))
        #expect(heard.names == [])
        events.note(.outage(name: "a", OutageChange(before: Self.gone, after: nil)))
        events.note(.resumed(name: "a", lost: 3))
        #expect(heard.names == ["outage-over"])
    }

    @Test("the record of an output's outages reports each change once")
    func record() {
        let changes = UncheckedTransfer<[OutageChange]>([])
        let record = OutageRecord { changes.value.append($0) }
        for outage in [nil, Self.full, Self.full, nil, nil] { record.set(outage) }
        record.end(.diskFull)
        #expect(
            changes.value == [
                OutageChange(before: nil, after: Self.full), OutageChange(before: Self.full, after: nil),
            ])
    }

    @Test("motion begins and ends; its triggers are no triggers of anybody")
    func motion() {
        let (events, control) = (heard.events(), RecordingControl())
        control.whenTriggered { events.note($0) }
        control.whenMotionChanges { events.noteMotion($0) }
        control.noteMotion(nil)
        control.trigger(EventTrigger(event: LastingEvent()))
        control.noteMotion(.milliseconds(2500))
        control.trigger()
        #expect(heard.names == ["motion-began", "motion-ended", "trigger"])
        #expect(heard.all.map(\.seconds) == [nil, 2.5, nil])
    }

    // MARK: Programs

    private func program(_ script: String) throws -> ProgramQueue<RecordingEvent> {
        folder.write("program", "#!/bin/sh\ncd \"${0%/*}\" || exit 1\n" + script)
        chmod(folder.path("program"), 0o700)
        let launch = ProgramLaunch(folder.path("program"), environment: ["PATH=/usr/bin:/bin"])
        return try #require(ProgramQueue(launch) { _ in })
    }

    private func said() -> String {
        (try? String(contentsOfFile: folder.path("said"), encoding: .utf8)) ?? ""
    }

    private func finish(_ program: ProgramQueue<RecordingEvent>) {
        program.close()
        _ = WaitResult.wait(for: program.ended.descriptor, unless: nil)
    }

    private func event(_ name: RecordingEvent.Name, camera: String = "/dev/video0") -> RecordingEvent {
        RecordingEvent(name, of: camera, at: WallTime(seconds: 1_000_000_000))
    }

    @Test("a program gets the event and its time, the same in its environment, and JSON on standard input")
    func call() throws {
        let program = try program(
            #"{ echo "$#" "$1" "$2" "$CAMREC_EVENT" "$CAMREC_TIME" "$CAMREC_CAMERA"; cat; } > said"#)
        program.start(for: event(.diskFull))
        finish(program)
        let time = "2001-09-09T01:46:40.000000Z"
        #expect(
            said() == """
                2 disk-full \(time) disk-full \(time) /dev/video0
                {"camera":"/dev/video0","event":"disk-full","time":"\(time)"}

                """)
    }

    @Test("texts of any length and content leave the JSON whole")
    func hostileTexts() throws {
        let program = try program("cat > said")
        program.start(for: event(.cameraLost, camera: String(repeating: "\u{1}\"é", count: 100_000 / 8)))
        finish(program)
        #expect(program.counts.leftOut == 0)
        #expect(said().hasSuffix("\"}\n") && said().utf8.count < 4096)
    }

    @Test(
        "programs for one kind of event run one after the other, in order; other kinds do not wait for them")
    func order() throws {
        mkfifo(folder.path("gate"), 0o600)
        let program = try program(
            #"echo "$1" >> said; case $1 in motion-began) read line < gate ;; esac; echo "$1 done" >> said"#)
        for name in [RecordingEvent.Name.motionBegan, .motionEnded, .cameraLost, .cameraBack] {
            program.start(for: event(name))
        }
        try #require(eventually { said().contains("camera-back done") })
        #expect(!said().contains("motion-ended"))
        let gate = open(folder.path("gate"), O_RDWR | O_CLOEXEC)
        defer { close(gate) }
        _ = write(gate, "x\n", 2)
        finish(program)
        let lines = said().split(separator: "\n")
        #expect(
            lines.filter { $0.hasPrefix("motion") } == [
                "motion-began", "motion-began done", "motion-ended", "motion-ended done",
            ])
        #expect(
            lines.filter { $0.hasPrefix("camera") } == [
                "camera-lost", "camera-lost done", "camera-back", "camera-back done",
            ])
    }
}
