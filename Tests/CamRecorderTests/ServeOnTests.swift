import Bitstream
import Encoder
import CamNetworking
import TestSupport
import Testing
import CamPlatform

@testable import Capture
import CamControlProtocol
@testable import CamRecorder

/// Files that end while live outputs continue.
@Suite(.hangGuard) struct ServeOnTests {
    private let file = ScriptedSink()
    private let live = ScriptedSink()

    private func plan(live sink: ScriptedSink, _ codec: Codec = .h264) throws -> OutputPlan {
        OutputPlan(
            OutputChoice(listeningOn: try #require(ListeningAddress("9982")), codec: codec), sink: sink)
    }

    private func record(
        _ events: [ScriptedStream.Event], _ encoders: [ScriptedEncoder] = [ScriptedEncoder()],
        limits: RecordingLimits
    ) throws -> Recording {
        try Recording(
            from: Capturing(RecordingSource(ScriptedStream(events, isLive: false))),
            session: CompressionSession([ScriptedProvider(encoders)]),
            to: [OutputPlan(file), plan(live: live)],
            limits: limits)
    }

    @Test(
        "a file has exactly its frames, and live outputs have all",
        arguments: [
            RecordingLimits(frames: 12, servesOn: true),
            // Ten a second: the one at 1.2 s is the first beyond.
            RecordingLimits(duration: .milliseconds(1200), servesOn: true),
            RecordingLimits(frames: 12, duration: .seconds(2), servesOn: true),
            RecordingLimits(frames: 100, duration: .milliseconds(1200), servesOn: true),
        ])
    func both(limits: RecordingLimits) throws {
        let recording = try record([.pictures(40)], limits: limits)
        let outcome = recording.finish()
        #expect(outcome.errors.isEmpty)
        #expect(file.sequences == (0..<12).map(UInt32.init) && file.isFinished)
        #expect(live.sequences == (0..<40).map(UInt32.init) && live.isFinished)
        // Receivers notice nothing: no keyframe but the regular ones.
        #expect(live.idrPositions == Array(stride(from: 0, to: 40, by: 5)))
        #expect(outcome.outputs.map(\.delivery.written) == [12, 40])
        #expect(outcome.outputs.map(\.delivery.lost) == [0, 0])
        #expect(recording.counted.addUp)
    }

    @Test("the file is finished while live outputs continue, without waiting for another picture")
    func atOnce() throws {
        let isServed = Gate()
        let recording = try record(
            [.pictures(12), .wait(isServed), .pictures(8)],
            limits: RecordingLimits(frames: 12, servesOn: true))
        try #require(eventually { recording.servesOn })
        #expect(file.isFinished && !recording.ended.isRaised)
        isServed.open()
        _ = recording.finish()
        #expect(!recording.servesOn && recording.ended.isRaised)
        #expect(file.units.count == 12 && live.units.count == 20)
    }

    @Test("pictures that the encoder holds back are in the file, and receivers go on with a keyframe")
    func heldBack() throws {
        let (first, second) = (ScriptedEncoder(), ScriptedEncoder())
        first.delay = 4
        let recording = try record(
            [.pictures(30)], [first, second], limits: RecordingLimits(frames: 12, servesOn: true))
        #expect(recording.finish().errors.isEmpty)
        #expect(file.sequences == (0..<12).map(UInt32.init))
        #expect(live.sequences == (0..<30).map(UInt32.init))
        #expect(live.idrPositions.contains(12))
    }

    @Test("an encoder that served files alone stops working; the other one goes on")
    func encoders() throws {
        let (shared, alone) = (ScriptedEncoder(), ScriptedEncoder())
        let other = ScriptedSink()
        let recording = try Recording(
            from: Capturing(RecordingSource(ScriptedStream([.pictures(40)], isLive: false))),
            session: CompressionSession([
                ScriptedProvider([shared]), ScriptedProvider([alone], codec: .hevc),
            ]), to: [OutputPlan(file, .hevc), plan(live: live), OutputPlan(other)],
            limits: RecordingLimits(frames: 12, servesOn: true))
        #expect(recording.finish().errors.isEmpty)
        #expect(alone.kinds.count == 12 && shared.kinds.count == 40)
        #expect(file.units.count == 12 && other.units.count == 12 && live.units.count == 40)
    }

    @Test(
        "a disk that fails after the files have ended concerns nobody, and a camera's failure ends the recording"
    )
    func failures() throws {
        file.failures = [12: .diskFull]
        let recording = try record(
            [.pictures(20), .fail(.lost)], limits: RecordingLimits(frames: 12, servesOn: true))
        let outcome = recording.finish()
        #expect(outcome.outputs.allSatisfy { $0.error == nil })
        #expect(outcome.capture != nil)
        #expect(file.units.count == 12 && live.units.count == 20)
    }

    @Test("a stop request ends live outputs, too")
    func stop() throws {
        let recording = try record([.endless], limits: RecordingLimits(frames: 3, servesOn: true))
        try #require(eventually { recording.servesOn })
        recording.stop()
        #expect(recording.finish().errors.isEmpty)
        #expect(file.units.count == 3 && live.isFinished && live.units.count > 3)
    }

    @Test("files end during a pause by their duration")
    func pause() throws {
        let control = RecordingControl()
        let (isPaused, isOver) = (Gate(), Gate())
        let recording = try Recording(
            from: Capturing(
                RecordingSource(
                    ScriptedStream(
                        [.pictures(5), .wait(isPaused), .pictures(15), .wait(isOver), .pictures(5)],
                        isLive: false))),
            session: CompressionSession([ScriptedProvider([ScriptedEncoder()])]),
            to: [OutputPlan(file), plan(live: live)], control: control,
            limits: RecordingLimits(duration: .seconds(1), servesOn: true))
        try #require(eventually { recording.counted[.encoded] >= 5 })
        control.pause()
        isPaused.open()
        try #require(eventually { recording.servesOn })
        try #require(eventually { recording.counted[.paused] >= 15 })
        control.resume()
        isOver.open()
        _ = recording.finish()
        #expect(file.units.count == 5 && live.units.count == 10)
    }

    @Test("a trigger for a ring whose files have ended is refused")
    func trigger() throws {
        let recording = try record([.endless], limits: RecordingLimits(frames: 3, servesOn: true))
        try #require(eventually { recording.servesOn })
        let desk = ControlCommandHandler(
            recording, since: .now, control: RecordingControl(), stop: try #require(CancellationFlag()),
            abilities: RecordingStatistics.Abilities(trigger: true, encoding: true, controls: false),
            rates: RateBounds(average: nil, maximum: nil, highest: nil),
            controls: LiveControls(CaptureRequest()),
            doctor: DoctorProgram(path: "/bin/false", arguments: [], environment: []),
            snapshots: Snapshot.Form(.jpeg, program: "test"))
        #expect(!desk.reply(to: "trigger").ok)
        #expect(desk.reply(to: "stats").ok)
        recording.stop()
        _ = recording.finish()
    }
}
