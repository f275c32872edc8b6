import Capture
import Encoder
import TestSupport
import Testing

@testable import CamRecorder

/// A camera that is started before its recording begins.
@Suite(.hangGuard) struct CapturingTests {
    private func record(
        _ capturing: Capturing, to sink: ScriptedSink, limits: RecordingLimits = RecordingLimits()
    ) throws -> Recording {
        try Recording(
            from: capturing,
            session: try CompressionSession([
                ScriptedProvider([ScriptedEncoder()], keyframeInterval: .frames(5))
            ]),
            to: [OutputPlan(sink)], limits: limits)
    }

    @Test("the recording begins with the latest picture, and counts from there")
    func ahead() throws {
        let (isReady, hasBegun) = (Gate(), Gate())
        let stream = try ScriptedStream(
            [
                .pictures(3), .loss(5, 1), .pictures(2), .open(isReady), .wait(hasBegun), .pictures(2),
                .loss(2, 1), .pictures(3),
            ], bufferCount: 32)
        stream.takesTimeToStart = true
        let (capturing, sink) = (Capturing(RecordingSource(stream)), ScriptedSink())
        capturing.startAhead()
        isReady.wait()
        let recording = try record(capturing, to: sink)
        hasBegun.open()
        #expect(recording.finish().error == nil)
        #expect(sink.sequences == [10, 11, 12, 16, 17, 18])
        #expect(sink.idrPositions == [0, 5])
        #expect(recording.counters[.captured] == 7, "with the one that was corrupt")
        #expect(recording.counters[.droppedByDriver] == 2)
        #expect(recording.counters[.corrupt] == 1)
        #expect(recording.counted.addUp)
        #expect(stream.startCount == 1)
    }

    @Test("the duration counts from the first picture that is recorded")
    func duration() throws {
        let (isReady, hasBegun) = (Gate(), Gate())
        // Ten pictures a second.
        let stream = try ScriptedStream(
            [.pictures(30), .open(isReady), .wait(hasBegun), .pictures(20)], bufferCount: 32)
        stream.takesTimeToStart = true
        let (capturing, sink) = (Capturing(RecordingSource(stream)), ScriptedSink())
        capturing.startAhead()
        isReady.wait()
        let recording = try record(capturing, to: sink, limits: RecordingLimits(duration: .seconds(1)))
        hasBegun.open()
        _ = recording.finish()
        #expect(sink.sequences == Array(29..<39))
    }

    @Test("sources that come at once are not started ahead")
    func others() throws {
        let stream = try ScriptedStream([.pictures(3)], bufferCount: 32)
        let (capturing, sink) = (Capturing(RecordingSource(stream)), ScriptedSink())
        capturing.startAhead()
        #expect(stream.startCount == 0)
        _ = try record(capturing, to: sink).finish()
        #expect(sink.sequences.first == 0)
    }

    @Test("a camera that fails meanwhile ends the recording with the reason")
    func failure() throws {
        let stream = try ScriptedStream([])
        (stream.takesTimeToStart, stream.startFailure) = (true, .noCamera)
        let (capturing, sink) = (Capturing(RecordingSource(stream)), ScriptedSink())
        capturing.startAhead()
        let outcome = try record(capturing, to: sink).finish()
        #expect(outcome.errors == [.capture(CaptureError(.noCamera, device: "scripted"))])
        #expect(sink.isFinished)
    }

    @Test("a camera whose recording never begins is stopped")
    func given() throws {
        let isReady = Gate()
        let stream = try ScriptedStream([.pictures(3), .open(isReady), .silence])
        stream.takesTimeToStart = true
        do {
            let capturing = Capturing(RecordingSource(stream))
            capturing.startAhead()
            isReady.wait()
        }
        #expect(stream.isStopped)
    }
}
