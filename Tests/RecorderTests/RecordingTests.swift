import Glibc
import Bitstream
import Encoder
import Output
import Testing

@testable import Capture
@testable import Recorder

/// Whole recordings, with three threads.
@Suite(.timeLimit(.minutes(1))) struct RecordingTests {
    private func record(
        _ stream: any CaptureStream, _ encoder: any PictureEncoder = ScriptedEncoder(),
        to sink: any PacketSink, limits: RecordingLimits = RecordingLimits(), keyframeInterval: Int = 5
    ) throws -> Recording {
        try Recording(
            from: stream, encoder: encoder,
            makeEncoder: { () throws(EncoderError) in
                throw EncoderError(.openFailed(encoder: "scripted", detail: "gone"))
            }, keyframeInterval: keyframeInterval, limits: limits, to: sink)
    }

    @Test("everything that comes is encoded and written, in order")
    func everything() throws {
        let sink = ScriptedSink()
        let stream = try ScriptedStream([.pictures(100)], isLive: false)
        let recording = try record(stream, to: sink)
        let outcome = recording.finish()
        #expect(outcome.error == nil)
        #expect(sink.sequences == (0..<100).map(UInt32.init))
        #expect(sink.idrPositions == Array(stride(from: 0, to: 100, by: 5)))
        #expect(sink.isFinished)
        #expect(stream.isStopped)
        #expect(recording.counters[.captured] == 100)
        #expect(recording.counters[.written] == 100)
        #expect(recording.counters[.keyframes] == 20)
        #expect(recording.counters[.bytes] == sink.units.map(\.count).reduce(0, +))
        #expect(recording.counters.addUp)
        #expect(outcome.latency == nil)
    }

    @Test("a live source's latency is told")
    func latency() throws {
        let outcome = try record(ScriptedStream([.pictures(3)]), to: ScriptedSink()).finish()
        let latency = try #require(outcome.latency)
        #expect(latency.median <= latency.percentile99)
        #expect(latency.percentile99 <= latency.maximum)
    }

    @Test("when the encoder is late the oldest raw picture is dropped and counted, and no coded one")
    func lateEncoder() throws {
        let (isEncoding, isLate) = (Gate(), Gate())
        let encoder = ScriptedEncoder()
        encoder.onPicture = { number in
            guard number == 0 else { return }
            isEncoding.open()
            isLate.wait()
        }
        let stream = try ScriptedStream([.picture, .wait(isEncoding), .pictures(19), .open(isLate)])
        let sink = ScriptedSink()
        let recording = try record(stream, encoder, to: sink)
        let outcome = recording.finish()
        #expect(outcome.error == nil)
        // One was being encoded and two could wait.
        #expect(sink.sequences == [0, 18, 19])
        #expect(recording.counters[.droppedByUs] == 17)
        #expect(recording.counters[.written] == 3)
        #expect(recording.counters.addUp)
    }

    @Test("a source that is not live waits for a late encoder, and nothing is dropped")
    func lateEncoderOfFile() throws {
        let encoder = ScriptedEncoder()
        let stream = try ScriptedStream([.pictures(500)], isLive: false, bufferCount: 2)
        let sink = ScriptedSink()
        let recording = try record(stream, encoder, to: sink)
        #expect(recording.finish().error == nil)
        #expect(sink.units.count == 500)
        #expect(recording.counters[.droppedByUs] == 0)
    }

    @Test("what the driver lost is counted: captured and dropped are what it numbered")
    func losses() throws {
        let stream = try ScriptedStream([
            .pictures(3), .loss(2, 1), .pictures(2), .loss(0, 4), .loss(1, 0), .picture, .loss(3, 2),
            .fail(.lost),
        ])
        let recording = try record(stream, to: ScriptedSink())
        #expect(recording.finish().error == .capture(CaptureError(.lost, device: "scripted")))
        let counters = recording.counters
        #expect(counters[.droppedByDriver] == 6)
        #expect(counters[.corrupt] == 7)
        #expect(counters[.captured] == 13)
        #expect(counters.addUp)
    }

    @Test("a camera that fails ends the recording: what it delivered is encoded, drained and written")
    func cameraFails() throws {
        let encoder = ScriptedEncoder()
        encoder.delay = 4
        let sink = ScriptedSink()
        let stream = try ScriptedStream([.pictures(10), .fail(.lost)], bufferCount: 32)
        let recording = try record(stream, encoder, to: sink)
        #expect(recording.finish().error == .capture(CaptureError(.lost, device: "scripted")))
        #expect(sink.units.count == 10)
        #expect(sink.isFinished)
        #expect(stream.isStopped)
        #expect(recording.counters.addUp)
    }

    @Test("a limit stops an endless source", arguments: [true, false])
    func limit(isLive: Bool) throws {
        let sink = ScriptedSink()
        let stream = try ScriptedStream([.endless], isLive: isLive)
        let recording = try record(stream, to: sink, limits: RecordingLimits(frames: 42))
        #expect(recording.finish().error == nil)
        #expect(sink.units.count == 42)
        #expect(recording.counters.addUp)
    }

    @Test("a sink that fails stops everything, with its error")
    func sinkFails() throws {
        let sink = ScriptedSink()
        sink.failures[7] = .diskFull
        let stream = try ScriptedStream([.endless])
        let recording = try record(stream, to: sink)
        #expect(recording.finish().error == .output(OutputError(.diskFull, output: "scripted")))
        #expect(sink.units.count == 7)
        #expect(!sink.isFinished)
        #expect(stream.isStopped)
        #expect(recording.counters[.written] == 7)
        #expect(recording.counters.addUp)
    }

    @Test("a sink that fails at the very end is told")
    func sinkFailsAtEnd() throws {
        let sink = ScriptedSink()
        sink.finishFailure = .diskFull
        let recording = try record(ScriptedStream([.pictures(3)]), to: sink)
        #expect(recording.finish().error == .output(OutputError(.diskFull, output: "scripted")))
    }

    @Test("an encoder that fails for good stops everything, with its error; what came out is written")
    func encoderFails() throws {
        let encoder = ScriptedEncoder()
        encoder.failures[5] = (.encoding, .unsupported("no more"))
        let sink = ScriptedSink()
        let stream = try ScriptedStream([.endless])
        let recording = try record(stream, encoder, to: sink)
        #expect(recording.finish().error == .encoder(EncoderError(.unsupported("no more"))))
        #expect(sink.units.count == 5)
        #expect(sink.isFinished)
        #expect(stream.isStopped)
        #expect(recording.counters.addUp)
    }

    @Test("stopping ends a wait for a source that says nothing; what is held back comes out")
    func stopSilence() throws {
        let encoder = ScriptedEncoder()
        encoder.delay = 2
        let arrived = Gate()
        encoder.onPicture = { if $0 == 4 { arrived.open() } }
        let sink = ScriptedSink()
        let recording = try record(
            ScriptedStream([.pictures(5), .silence], bufferCount: 32), encoder, to: sink)
        arrived.wait()
        recording.stop()
        #expect(recording.finish().error == nil)
        #expect(sink.units.count == 5)
        #expect(recording.counters.addUp)
    }

    @Test("stopping while every stage is blocked: once the sink gives up, everything ends")
    func stopWhileBlocked() throws {
        let (isBlocked, isGivenUp) = (Gate(), Gate())
        let sink = ScriptedSink()
        sink.failures[2] = .stalled(seconds: 5)
        sink.onUnit = { number in
            guard number == 2 else { return }
            isBlocked.open()
            isGivenUp.wait()
        }
        let recording = try record(ScriptedStream([.endless], isLive: false), to: sink)
        isBlocked.wait()
        recording.stop()
        isGivenUp.open()
        #expect(recording.finish().error == .output(OutputError(.stalled(seconds: 5), output: "scripted")))
        #expect(recording.ended.isRaised)
        #expect(sink.units.count == 2)
        #expect(recording.counters.addUp)
    }

    @Test("stopping at once, before anything came, is no error")
    func stopAtOnce() throws {
        let recording = try record(ScriptedStream([.silence]), to: ScriptedSink())
        recording.stop()
        recording.stop()
        #expect(recording.finish().error == nil)
        #expect(recording.counters.addUp)
    }

    @Test("it says that it has ended before anybody asks")
    func ended() throws {
        let recording = try record(ScriptedStream([.pictures(3)]), to: ScriptedSink())
        while !recording.ended.isRaised { sched_yield() }
        #expect(recording.finish().error == nil)
    }

    @Test("the test source through libx264: every picture, in order, IDR on the grid")
    func real() throws {
        let stream = try TestSource(
            CaptureRequest(size: PictureSize(160, 120), frameRate: FrameRate(25), pixelFormat: .yuyv),
            isPaced: false)
        var configuration = EncoderConfiguration()
        configuration.keyframeInterval = .frames(7)
        var request = EncoderRequest()
        request.preference = .software
        let encoder = try EncoderSupply(request, configuration: configuration, source: stream.format).open()
        let sink = ScriptedSink()
        let recording = try record(
            stream, encoder, to: sink, limits: RecordingLimits(frames: 40), keyframeInterval: 7)
        #expect(recording.finish().error == nil)
        #expect(sink.sequences == (0..<40).map(UInt32.init))
        #expect(sink.idrPositions == [0, 7, 14, 21, 28, 35])
        #expect(recording.counters.addUp)
    }
}
