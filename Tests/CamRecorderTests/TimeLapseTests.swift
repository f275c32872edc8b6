import Bitstream
import Encoder
import CamPictures
import TestSupport
import Testing
import CamPlatform

@testable import Capture
@testable import CamRecorder
import CamStorage

/// Whole recordings that play faster than they were captured. The source has ten frames a second.
@Suite(.hangGuard) struct TimeLapseTests {
    private func record(
        _ events: [ScriptedStream.Event], every interval: Duration, to sink: ScriptedSink,
        limits: RecordingLimits = RecordingLimits(), keyframes: KeyframeInterval = .frames(5),
        segments: SegmentSchedule? = nil
    ) throws -> (recording: Recording, outcome: RecordingOutcome) {
        let provider = try ScriptedProvider([ScriptedEncoder()], keyframeInterval: keyframes)
        provider.playbackRate = FrameRate(25)
        let capturing = Capturing(
            RecordingSource(try ScriptedStream(events, isLive: false)), every: interval)
        let recording = try Recording(
            from: capturing, session: try CompressionSession([provider]),
            to: [OutputPlan(sink)], segments: segments, limits: limits)
        return (recording, recording.finish())
    }

    @Test("one frame each interval is encoded, and the others are counted as not wanted")
    func frames() throws {
        let sink = ScriptedSink()
        let (recording, outcome) = try record([.pictures(100)], every: .seconds(1), to: sink)
        #expect(outcome.error == nil)
        #expect(sink.sequences == (0..<10).map { 10 * UInt32($0) })
        #expect(recording.counted[.notWanted] == 90)
        #expect(recording.counted[.captured] == 100)
        #expect(recording.counted.addUp)
    }

    @Test("frames keep the time of their capture, and are numbered without gaps")
    func times() throws {
        let sink = ScriptedSink()
        _ = try record([.pictures(15), .loss(20, 0), .pictures(15)], every: .seconds(1), to: sink)
        #expect(sink.units.map(\.frameNumber) == [0, 1, 2, 3])
        #expect(sink.units.map(\.timestamp) == [0, 1, 3.5, 4].map { .start + .seconds($0) })
    }

    @Test("rate and keyframes are those of playing")
    func playing() throws {
        let sink = ScriptedSink()
        // Half a second of playing is 12 or 13 frames.
        let (_, outcome) = try record(
            [.pictures(400)], every: .seconds(1), to: sink, keyframes: .seconds(0.5))
        #expect(sink.idrPositions == [0, 13, 26, 39])
        let rate = try #require(outcome.tracks[0].measuredRate)
        #expect(abs(rate - 25) < 0.001)
        let bits = Double(sink.units.map(\.count).reduce(0, +) * 8)
        #expect(abs((outcome.tracks[0].rate.average ?? 0) - bits / (40.0 / 25)) < 1)
    }

    @Test("the duration is that of capture, and ends between two frames, too")
    func duration() throws {
        let sink = ScriptedSink()
        let (recording, _) = try record(
            [.endless], every: .seconds(10), to: sink, limits: RecordingLimits(duration: .seconds(25)))
        #expect(sink.sequences == [0, 100, 200])
        #expect(recording.counted[.captured] == 250)
    }

    @Test("a limit of frames counts those that are recorded")
    func limit() throws {
        let sink = ScriptedSink()
        _ = try record([.endless], every: .seconds(1), to: sink, limits: RecordingLimits(frames: 3))
        #expect(sink.sequences == [0, 10, 20])
    }

    @Test("segments are as long as they were captured")
    func segments() throws {
        let sink = ScriptedSink()
        _ = try record(
            [.pictures(100)], every: .seconds(1), to: sink, keyframes: .frames(100),
            segments: SegmentSchedule(.time(.seconds(4))))
        #expect(sink.idrPositions == [0, 4, 8])
    }

    @Test("the frame that a camera already has when the recording begins starts the grid")
    func ahead() throws {
        let (isReady, hasBegun) = (Gate(), Gate())
        let stream = try ScriptedStream(
            [.pictures(8), .open(isReady), .wait(hasBegun), .pictures(30)], bufferCount: 32)
        stream.takesTimeToStart = true
        let (capturing, sink) = (Capturing(RecordingSource(stream), every: .seconds(1)), ScriptedSink())
        capturing.startAhead()
        isReady.wait()
        let provider = try ScriptedProvider([ScriptedEncoder()])
        let recording = try Recording(
            from: capturing, session: try CompressionSession([provider]), to: [OutputPlan(sink)],
            limits: RecordingLimits())
        hasBegun.open()
        #expect(recording.finish().error == nil)
        #expect(sink.sequences == [7, 17, 27, 37])
        #expect(recording.counted.addUp)
    }
}
