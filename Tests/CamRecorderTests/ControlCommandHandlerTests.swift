import Bitstream
import Capture
import CamControlProtocol
import Encoder
import CamNetworking
import TestSupport
import Testing
import CamPlatform
import CamStorage

@testable import CamRecorder

/// Commands of the control socket, and what they do to a recording.
@Suite(.hangGuard) struct ControlCommandHandlerTests {
    private let control = RecordingControl()
    private let stop: CancellationFlag
    private let recording: Recording

    init() throws {
        stop = try #require(CancellationFlag())
        recording = try Recording(
            from: Capturing(RecordingSource(ScriptedStream([.silence]))),
            session: CompressionSession([ScriptedProvider([ScriptedEncoder()])]),
            to: [OutputPlan(ScriptedSink())], control: control, limits: RecordingLimits())
    }

    private func desk(
        isPassthrough: Bool = false, hasRing: Bool = true,
        rates: RateBounds = RateBounds(average: 2_000_000, maximum: nil, highest: nil),
        doctor: String = "/bin/echo"
    ) -> ControlCommandHandler {
        ControlCommandHandler(
            recording, since: .now, control: control, stop: stop,
            abilities: RecordingStatistics.Abilities(
                trigger: hasRing, encoding: !isPassthrough, controls: false), rates: rates,
            controls: LiveControls(CaptureRequest()),
            doctor: DoctorProgram(path: doctor, arguments: ["a", "b"], environment: []),
            snapshots: Snapshot.Form(.jpeg, program: "test"))
    }

    @Test("one snapshot is taken at a time")
    func snapshots() {
        let desk = desk()
        guard case .task(let task) = desk.carryOut("snapshot jpeg") else {
            Issue.record("no snapshot")
            return end()
        }
        #expect(desk.reply(to: "snapshot png").error?.contains("another snapshot") == true)
        withExtendedLifetime(task) {}
        end()
    }

    @Test("what has no single pictures, or no format, is refused")
    func noSnapshots() {
        #expect(desk(isPassthrough: true).reply(to: "snapshot jpeg").error?.contains("own H.264") == true)
        for command in ["snapshot", "snapshot gif", "snapshot a.jpg", "snapshot jpeg png"] {
            #expect(desk().reply(to: command).error != nil)
        }
        end()
    }

    @Test(
        "recordings are kept, released and listed by path; a name may have spaces, and a tab begins the last one"
    )
    func keepingCommands() throws {
        let range = SegmentRange(first: "/rec/a b.mkv", last: "/rec/c.mkv")
        #expect(try ControlCommand("keep /rec/a b.mkv\t/rec/c.mkv") == .keeping(.mark(range, isKept: true)))
        let one = SegmentRange(first: "a.mkv")
        #expect(try ControlCommand("release a.mkv") == .keeping(.mark(one, isKept: false)))
        #expect(try ControlCommand("kept") == .keeping(.list))
        for line in ["keep", "release", "kept a", "keep \t", "keep a\t", "keep a\tb\tc"] {
            #expect(throws: ControlCommand.Mistake.self) { try ControlCommand(line) }
        }
    }

    @Test("a recorder that removes nothing says that nothing needs to be kept")
    func nothingToKeep() {
        guard case .task(let task) = desk().carryOut("keep a.mkv") else {
            Issue.record("no task")
            return end()
        }
        #expect(sent { task.run(sendingTo: $0) { $0.error ?? "" } }.contains("removes nothing"))
        guard case .task(let list) = desk().carryOut("kept") else {
            Issue.record("no task")
            return end()
        }
        #expect(sent { list.run(sendingTo: $0) { "\($0.kept?.count ?? -1)" } } == "0\n")
        end()
    }

    @Test("a source that is not a camera has no controls to list or set")
    func noControls() {
        for command in ["controls", "control brightness=1"] {
            #expect(desk().reply(to: command).error?.contains("not a camera") == true)
        }
        for command in ["control", "control brightness", "controls brightness=1"] {
            #expect(desk().reply(to: command).error?.contains("not a camera") == false)
        }
        end()
    }

    @Test("the statistics say which commands have an effect, and the rate that is aimed at")
    func abilities() throws {
        let stats = try #require(desk(hasRing: false).reply(to: "stats").stats)
        #expect(stats.abilities == .init(trigger: false, encoding: true, controls: false))
        #expect(stats.bitRate == 2_000_000)
        end()
    }

    @Test("the doctor's findings follow the reply, whatever it exits with; one doctor works at a time")
    func doctor() throws {
        let desk = desk(doctor: "/bin/echo")
        guard case .task(let task) = desk.carryOut("doctor") else {
            Issue.record("no doctor")
            return end()
        }
        #expect(desk.reply(to: "doctor").error?.contains("at work") == true)
        #expect(sent { task.run(sendingTo: $0) { "\($0.bytes ?? -1)" } } == "4\na b\n")
        end()
    }

    @Test("a doctor that says nothing, or is not there, is an error", arguments: ["/bin/false", "/nowhere"])
    func noDoctor(path: String) {
        guard case .task(let task) = desk(doctor: path).carryOut("doctor") else {
            Issue.record("no doctor")
            return end()
        }
        #expect(sent { task.run(sendingTo: $0) { $0.error ?? "" } }.hasPrefix("the doctor "))
        end()
    }

    /// What a task sends.
    private func sent(by run: (borrowing Socket) -> Void) -> String {
        String(decoding: (try? sentBytes(by: run)) ?? [], as: UTF8.self)
    }

    private func end() {
        recording.stop()
        #expect(recording.finish().errors == [])
    }

    @Test("each command reaches the recording")
    func commands() {
        let desk = desk()
        #expect(desk.reply(to: "keyframe").ok)
        #expect(control.takeKeyframe())
        #expect(desk.reply(to: "trigger").ok)
        #expect(control.triggerCount == 1)
        #expect(desk.reply(to: "pause").ok)
        #expect(control.isPaused)
        #expect(desk.reply(to: "stats").stats?.state == .paused)
        #expect(desk.reply(to: "resume").ok)
        #expect(desk.reply(to: "stats").stats?.state == .recording)
        #expect(desk.reply(to: "bitrate 4M").ok)
        #expect(control.takeBitRate() == 4_000_000)
        #expect(desk.reply(to: "stop").ok)
        #expect(stop.isRaised)
        end()
    }

    @Test("a command that this recording cannot follow is refused, and does nothing")
    func refusals() {
        let desk = desk(isPassthrough: true, hasRing: false)
        for command in ["keyframe", "trigger", "bitrate 1M", "max-bitrate 1M", "dance", ""] {
            let reply = desk.reply(to: command)
            #expect(!reply.ok)
            #expect(reply.error != nil)
        }
        #expect(!control.takeKeyframe())
        #expect(control.takeBitRate() == nil)
        #expect(control.triggerCount == 0)
        end()
    }

    @Test("an average rate stays below the maximum and the level's, and a new one replaces the old limit")
    func rates() {
        let rates = RateBounds(average: 2_000_000, maximum: 3_000_000, highest: 10_000_000)
        let desk = desk(rates: rates)
        #expect(!desk.reply(to: "bitrate 4M").ok)
        #expect(desk.reply(to: "bitrate 3M").ok)
        #expect(rates.average == 3_000_000)
        let unlimited = self.desk(rates: RateBounds(average: 2_000_000, maximum: nil, highest: 10_000_000))
        #expect(!unlimited.reply(to: "bitrate 11M").ok)
        #expect(unlimited.reply(to: "bitrate 10M").ok)
        end()
    }

    @Test("the rate that is in use changes nothing, and forces no keyframe")
    func sameRate() {
        let reply = desk().reply(to: "bitrate 2M")
        #expect(reply.ok)
        #expect(reply.keyframeForced == false)
        #expect(control.takeBitRate() == nil)
        end()
    }
}

extension ControlCommandHandler {
    /// The reply to a command that is carried out at once.
    func reply(to line: String) -> ControlReply {
        if case .reply(let reply) = carryOut(line) { return reply }
        return ControlReply(error: "it takes time")
    }
}
