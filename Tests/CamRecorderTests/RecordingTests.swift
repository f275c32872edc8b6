import Bitstream
import Encoder
import CamPlatform
import Glibc
import CamPictures
import TestSupport
import Testing

@testable import Capture
@testable import CamRecorder
import CamStorage
import Containers

/// Whole recordings, with three threads.
@Suite(.hangGuard) struct RecordingTests {
    private func record(
        _ stream: any CaptureStream, _ encoder: any PictureEncoder = ScriptedEncoder(),
        to sink: any AccessUnitSink, limits: RecordingLimits = RecordingLimits(),
        keyframeInterval: KeyframeInterval = .frames(5)
    ) throws -> Recording {
        try Recording(
            from: Capturing(RecordingSource(stream)),
            session: try Self.session(encoder, keyframeInterval: keyframeInterval),
            to: [OutputPlan(sink)], limits: limits)
    }

    static func session(
        _ encoder: any PictureEncoder, _ codec: Codec = .h264, keyframeInterval: KeyframeInterval = .frames(5)
    ) throws -> CompressionSession {
        try CompressionSession([
            ScriptedProvider([encoder], codec: codec, keyframeInterval: keyframeInterval)
        ])
    }

    @Test("encodes and writes everything, in order")
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
        #expect(recording.counted[.captured] == 100)
        #expect(recording.counted[.written] == 100)
        #expect(recording.counted[.keyframes] == 20)
        #expect(recording.counted[.bytes] == sink.units.map(\.count).reduce(0, +))
        #expect(recording.counted.addUp)
        #expect(outcome.outputs[0].latency == nil)
    }

    @Test(
        "its start is the first picture's capture by the wall clock, if the source has this machine's clock")
    func start() throws {
        func start(isLive: Bool) throws -> WallTime? {
            let stream = try ScriptedStream([.pictures(3)], isLive: isLive)
            return try record(stream, to: ScriptedSink()).finish().start
        }
        // Its first picture was captured at the clock's start.
        let boot = SystemTime().wallTime(at: .start)
        #expect((try #require(try start(isLive: true)) - boot).magnitude < .seconds(60))
        #expect(try start(isLive: false) == nil)
    }

    @Test("a pause drops and counts pictures, and ends with a keyframe; the grid counts encoded ones")
    func pause() throws {
        let (isPaused, isOver) = (Gate(), Gate())
        let stream = try ScriptedStream(
            [.pictures(7), .wait(isPaused), .pictures(10), .wait(isOver), .pictures(6)], isLive: false)
        let (sink, control) = (ScriptedSink(), RecordingControl())
        let recording = try Recording(
            from: Capturing(RecordingSource(stream)), session: try Self.session(ScriptedEncoder()),
            to: [OutputPlan(sink)],
            control: control,
            limits: RecordingLimits())
        try #require(eventually { recording.counted[.encoded] >= 7 })
        control.pause()
        isPaused.open()
        try #require(eventually { recording.counted[.paused] >= 10 })
        control.resume()
        isOver.open()
        let outcome = recording.finish()
        #expect(outcome.error == nil)
        #expect(sink.sequences == [UInt32](0..<7) + [UInt32](17..<23))
        #expect(sink.units.map(\.frameNumber) == Array(0..<13))
        #expect(sink.idrPositions == [0, 5, 7, 10])
        #expect(recording.counted.addUp)
        // Ten a second, as if there had been no pause.
        #expect(outcome.tracks[0].measuredRate == 10)
    }

    @Test("drops and counts raw pictures if the disk is late, never coded ones")
    func lateDisk() throws {
        let (isWriting, isLate) = (Gate(), Gate())
        let sink = ScriptedSink()
        sink.onUnit = { number in
            guard number == 0 else { return }
            isWriting.open()
            isLate.wait()
        }
        // A minute's pictures wait for the disk; half as many again arrive meanwhile.
        let stream = try ScriptedStream([.picture, .wait(isWriting), .pictures(5400), .open(isLate)])
        let recording = try record(stream, to: sink)
        let outcome = recording.finish()
        #expect(outcome.error == nil)
        #expect(recording.counted[.droppedByUs] > 0)
        #expect(recording.counted[.written] == recording.counted[.encoded])
        #expect(sink.units.map(\.frameNumber) == Array(0..<sink.units.count))
        #expect(sink.sequences.last == 5400)
        #expect(recording.outputs[0].counters[.lost] == 0)
        #expect(recording.counted.addUp)
    }

    @Test("where a camera returns with another size, the next file has that size")
    func otherSize() throws {
        let folder = TemporaryFolder()
        let path = folder.path("out.h264")
        var sizes: [Int] = []
        func open(_ path: String, _ stream: StreamDescription) throws(OutputError) -> any AccessUnitSink {
            sizes.append(stream.width)
            return try FileSink(path: path, overwrite: false, cancellation: CancellationFlag()!)
        }
        let stream = StreamDescription(codec: .h264, width: 2, height: 2, frameRate: nil)
        let sink = FileRollover(first: try open(path, stream), path: path, stream: stream, open: open)
        let larger = try ScriptedStream(
            [.pictures(20)], isLive: false, pictures: Pictures(size: PictureSize(4, 4)!))
        var openings: [ScriptedStream?] = [nil, nil, larger]
        let source = RecordingSource(
            try ScriptedStream([.pictures(10), .fail(.silent(for: .seconds(2)))], isLive: false),
            reopen: { _ throws(CaptureError) in
                guard let stream = openings.removeFirst() else { throw CaptureError(.notFound, device: "a") }
                return stream
            }, timeout: nil)
        let provider = try ScriptedProvider([ScriptedEncoder(), ScriptedEncoder()])
        let recording = try Recording(
            from: Capturing(source), session: try CompressionSession([provider]), to: [OutputPlan(sink)],
            limits: RecordingLimits())
        let outcome = recording.finish()
        #expect(outcome.errors.isEmpty)
        #expect(sizes == [2, 4])
        #expect(folder.sizes == ["out.h264": 10 * 14, "out-1.h264": 20 * 14])
        #expect(outcome.outputs[0].segments?.last == folder.path("out-1.h264"))
    }

    @Test("writes a ring's pictures on a trigger, and counts each once")
    func eventRing() throws {
        let folder = TemporaryFolder()
        let plan = SegmentPlan(
            names: FileNamePattern(folder.path + "/event.h264", expandsTime: true), length: nil)
        let ring = EventRing.Plan(before: .seconds(1), after: .seconds(1))
        let sink = try SegmentRecorder(
            plan, stream: StreamDescription(codec: .h264, width: 2, height: 2, frameRate: nil),
            open: { (path, _) throws(OutputError) in
                try FileSink(path: path, overwrite: false, cancellation: CancellationFlag()!)
            })
        let (hasHappened, control) = (Gate(), RecordingControl())
        let stream = try ScriptedStream([.pictures(40), .wait(hasHappened), .pictures(60)], isLive: false)
        let recording = try Recording(
            from: Capturing(RecordingSource(stream)), session: try Self.session(ScriptedEncoder()),
            to: [OutputPlan(sink, ring: ring)],
            control: control, limits: RecordingLimits())
        try #require(eventually { recording.outputs[0].counters[.passed] >= 40 })
        #expect(!recording.hasUnwritten)
        control.trigger()
        hasHappened.open()
        let outcome = recording.finish()
        #expect(outcome.errors.isEmpty)
        // A second before picture 40, and until the IDR a second after it; each picture has 14 bytes.
        #expect(folder.sizes == ["event.h264": (50 - 25) * 14])
        let counters = recording.outputs[0].counters
        #expect(counters[.written] == 25)
        #expect(counters[.accepted] == 100)
        #expect(counters[.passed] == 75)
        #expect(counters[.lost] == 0)
        #expect(!recording.hasUnwritten)
    }

    @Test(
        "an output that recovers continues after a failure; its losses count, and the first error is reported"
    )
    func recovery() throws {
        let (sink, other) = (ScriptedSink(), ScriptedSink())
        sink.recovers = true
        sink.failures = [3: .diskFull, 4: .writeFailed(errno: EIO), 7: .diskFull]
        let recording = try Recording(
            from: Capturing(RecordingSource(ScriptedStream([.pictures(10)], isLive: false))),
            session: try Self.session(ScriptedEncoder()),
            to: [OutputPlan(sink), OutputPlan(other)], limits: RecordingLimits())
        let outcome = recording.finish()
        #expect(outcome.outputs[0].error?.kind == .diskFull)
        #expect(outcome.outputs[1].error == nil)
        #expect(sink.sequences == [0, 1, 2, 5, 6, 8, 9])
        #expect(sink.isFinished)
        #expect(other.units.count == 10)
        #expect(recording.outputs[0].counters[.accepted] == 10)
        #expect(recording.outputs[0].counters[.written] == 7)
        #expect(recording.outputs[0].counters[.lost] == 3)
        #expect(!recording.hasUnwritten)
    }

    @Test("reports an output that fails for good while the others continue")
    func reportedFailure() throws {
        let (sink, other, isTold) = (ScriptedSink(), ScriptedSink(), Gate())
        sink.failures = [3: .diskFull]
        let recording = try Recording(
            from: Capturing(
                RecordingSource(
                    ScriptedStream([.pictures(10), .wait(isTold), .pictures(10)], isLive: false))),
            session: try Self.session(ScriptedEncoder()),
            to: [OutputPlan(sink), OutputPlan(other)], limits: RecordingLimits(),
            report: { event in
                if case .failed(let error) = event, error.kind == .diskFull { isTold.open() }
            })
        #expect(recording.finish().outputs[0].error?.kind == .diskFull)
        #expect(other.units.count == 20)
    }

    @Test("reports a live source's latency")
    func latency() throws {
        let outcome = try record(ScriptedStream([.pictures(3)]), to: ScriptedSink()).finish()
        let latency = try #require(outcome.outputs[0].latency)
        #expect(latency.median > .zero)
        #expect(latency.median <= latency.percentile99)
        #expect(latency.percentile99 <= latency.maximum)
    }

    @Test("drops and counts the oldest raw picture if the encoder is late, never coded ones")
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
        #expect(recording.counted[.droppedByUs] == 17)
        #expect(recording.counted[.written] == 3)
        #expect(recording.counted.addUp)
    }

    @Test("a source that is not live waits for a late encoder, and drops nothing")
    func lateEncoderOfFile() throws {
        let encoder = ScriptedEncoder()
        let stream = try ScriptedStream([.pictures(500)], isLive: false, bufferCount: 2)
        let sink = ScriptedSink()
        let recording = try record(stream, encoder, to: sink)
        #expect(recording.finish().error == nil)
        #expect(sink.units.count == 500)
        #expect(recording.counted[.droppedByUs] == 0)
    }

    @Test("counts the driver's losses: captured and dropped frames add up to its numbers")
    func losses() throws {
        let stream = try ScriptedStream([
            .pictures(3), .loss(2, 1), .pictures(2), .loss(0, 4), .loss(1, 0), .picture, .loss(3, 2),
            .fail(.lost),
        ])
        let recording = try record(stream, to: ScriptedSink())
        #expect(recording.finish().error == .capture(CaptureError(.lost, device: "scripted")))
        let counters = recording.counted
        #expect(counters[.droppedByDriver] == 6)
        #expect(counters[.corrupt] == 7)
        #expect(counters[.captured] == 13)
        #expect(counters.addUp)
    }

    @Test("a camera that fails ends the recording: its pictures are encoded, drained and written")
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
        #expect(recording.counted.addUp)
    }

    @Test("a limit stops an endless source", arguments: [true, false])
    func limit(isLive: Bool) throws {
        let sink = ScriptedSink()
        let stream = try ScriptedStream([.endless], isLive: isLive)
        let recording = try record(stream, to: sink, limits: RecordingLimits(frames: 42))
        #expect(recording.finish().error == nil)
        #expect(sink.units.count == 42)
        #expect(recording.counted.addUp)
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
        #expect(recording.counted[.written] == 7)
        #expect(recording.counted.addUp)
    }

    @Test("reports a sink that fails at the very end")
    func sinkFailsAtEnd() throws {
        let sink = ScriptedSink()
        sink.finishFailure = .diskFull
        let recording = try record(ScriptedStream([.pictures(3)]), to: sink)
        #expect(recording.finish().error == .output(OutputError(.diskFull, output: "scripted")))
    }

    @Test("an encoder that fails for good stops everything, with its error; its output is written")
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
        #expect(recording.counted.addUp)
    }

    @Test("stopping ends the wait for a silent source; held-back pictures come out")
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
        #expect(recording.counted.addUp)
    }

    @Test("stopping with every stage blocked: once the sink gives up, everything ends")
    func stopWhileBlocked() throws {
        let (isBlocked, isGivenUp) = (Gate(), Gate())
        let sink = ScriptedSink()
        sink.failures[2] = .stalled(for: .seconds(5))
        sink.onUnit = { number in
            guard number == 2 else { return }
            isBlocked.open()
            isGivenUp.wait()
        }
        let recording = try record(ScriptedStream([.endless], isLive: false), to: sink)
        isBlocked.wait()
        recording.stop()
        isGivenUp.open()
        #expect(
            recording.finish().error == .output(OutputError(.stalled(for: .seconds(5)), output: "scripted")))
        #expect(recording.ended.isRaised)
        #expect(sink.units.count == 2)
        #expect(recording.counted.addUp)
    }

    @Test("stopping before anything arrived is not an error")
    func stopAtOnce() throws {
        let recording = try record(ScriptedStream([.silence]), to: ScriptedSink())
        recording.stop()
        recording.stop()
        #expect(recording.finish().error == nil)
        #expect(recording.counted.addUp)
    }

    @Test("reports its end before anyone asks")
    func ended() throws {
        let recording = try record(ScriptedStream([.pictures(3)]), to: ScriptedSink())
        try #require(eventually { recording.ended.isRaised })
        #expect(recording.finish().error == nil)
    }

    @Test("the test source through libx264: every picture, in order, IDR on the grid")
    func real() throws {
        let stream = try TestSource(
            CaptureRequest(size: PictureSize(160, 120), frameRate: FrameRate(25), pixelFormat: .yuyv),
            isPaced: false)
        var configuration = CompressionProperties()
        configuration.keyframeInterval = .frames(7)
        var request = EncoderRequest()
        request.preference = .software
        let encoder = try BackendEncoderProvider.providers(
            request, configurations: [configuration], source: stream.format)[0].open(CallWatch())
        let sink = ScriptedSink()
        let recording = try record(
            stream, encoder, to: sink, limits: RecordingLimits(frames: 40), keyframeInterval: .frames(7))
        #expect(recording.finish().error == nil)
        #expect(sink.sequences == (0..<40).map(UInt32.init))
        #expect(sink.idrPositions == [0, 7, 14, 21, 28, 35])
        #expect(recording.counted.addUp)
    }

    // MARK: Several outputs

    @Test("each output gets its track's whole stream, and each encoder every picture")
    func severalOutputs() throws {
        let sinks = (0..<3).map { _ in ScriptedSink() }
        let encoders = [ScriptedEncoder(), ScriptedEncoder()]
        let recording = try Recording(
            from: Capturing(RecordingSource(ScriptedStream([.pictures(100)], isLive: false))),
            session: try CompressionSession([
                ScriptedProvider([encoders[0]]),
                ScriptedProvider([encoders[1]], codec: .hevc, keyframeInterval: .frames(7)),
            ]),
            to: [OutputPlan(sinks[0]), OutputPlan(sinks[1], .hevc), OutputPlan(sinks[2])],
            limits: RecordingLimits())
        #expect(recording.finish().errors == [])
        for sink in sinks { #expect(sink.sequences == (0..<100).map(UInt32.init)) }
        #expect(sinks[2].idrPositions == Array(stride(from: 0, to: 100, by: 5)))
        #expect(sinks[1].idrPositions == Array(stride(from: 0, to: 100, by: 7)))
        #expect(encoders.map(\.releases) == [100, 100])
        #expect(zip(sinks[0].units, sinks[2].units).allSatisfy { $0 === $1 }, "shared, not copied")
    }

    @Test("an output that fails ends alone; the others get everything, and its error is reported")
    func oneOutputFails() throws {
        let (good, bad) = (ScriptedSink(), ScriptedSink())
        bad.failures[7] = .diskFull
        let recording = try Recording(
            from: Capturing(RecordingSource(ScriptedStream([.pictures(100)], isLive: false))),
            session: try Self.session(ScriptedEncoder()),
            to: [OutputPlan(bad), OutputPlan(good)], limits: RecordingLimits())
        let outcome = recording.finish()
        #expect(outcome.errors == [.output(OutputError(.diskFull, output: "scripted"))])
        #expect(outcome.outputs.map { $0.error == nil } == [false, true])
        #expect(good.units.count == 100)
        #expect(recording.outputs[0].counters[.written] == 7)
        #expect(
            recording.outputs[0].counters[.accepted] == 7 + recording.outputs[0].counters[.lost],
            "what it had taken is written or lost")
        #expect(recording.outputs[1].counters[.lost] == 0)
    }

    @Test("once a track's last output has failed, its encoder rests, and the other track continues")
    func oneTracksOutputFails() throws {
        let (good, bad) = (ScriptedSink(), ScriptedSink())
        bad.failures[0] = .diskFull
        let encoders = [ScriptedEncoder(), ScriptedEncoder()]
        let recording = try Recording(
            from: Capturing(RecordingSource(ScriptedStream([.pictures(50)], isLive: false))),
            session: try CompressionSession(
                zip(encoders, Codec.allCases).map { try ScriptedProvider([$0], codec: $1) }),
            to: [OutputPlan(bad), OutputPlan(good, .hevc)],
            limits: RecordingLimits(frames: 40))
        #expect(recording.finish().errors == [.output(OutputError(.diskFull, output: "scripted"))])
        #expect(good.units.count == 40)
        for counters in recording.encoderCounters {
            #expect(
                CountedFrames(capture: recording.counters, encoder: counters).addUp,
                "every frame came to one end, for each encoder")
        }
    }

    @Test("an encoder that fails for good completes its outputs, and the other track continues")
    func oneEncoderFails() throws {
        let encoders = [ScriptedEncoder(), ScriptedEncoder()]
        encoders[0].failures[5] = (.encoding, .unsupported("no more"))
        let sinks = [ScriptedSink(), ScriptedSink()]
        let recording = try Recording(
            from: Capturing(RecordingSource(ScriptedStream([.pictures(50)], isLive: false))),
            session: try CompressionSession(
                zip(encoders, Codec.allCases).map { try ScriptedProvider([$0], codec: $1) }),
            to: [OutputPlan(sinks[0]), OutputPlan(sinks[1], .hevc)],
            limits: RecordingLimits())
        #expect(recording.finish().errors == [.encoder(EncoderError(.unsupported("no more")))])
        #expect(sinks.map(\.units.count) == [5, 50])
        #expect(sinks.map(\.isFinished) == [true, true])
        #expect(recording.encoderCounters[0][.unused] == 44)
    }

    @Test("counts a damaged picture once, whichever encoder finds it")
    func damagedForAll() throws {
        let encoders = [ScriptedEncoder(), ScriptedEncoder()]
        encoders[0].failures[3] = (.encoding, .damagedPicture(""))
        let sinks = [ScriptedSink(), ScriptedSink()]
        let recording = try Recording(
            from: Capturing(RecordingSource(ScriptedStream([.pictures(10)], isLive: false))),
            session: try CompressionSession(
                zip(encoders, Codec.allCases).map { try ScriptedProvider([$0], codec: $1) }),
            to: [OutputPlan(sinks[0]), OutputPlan(sinks[1], .hevc)],
            limits: RecordingLimits())
        #expect(recording.finish().errors == [])
        #expect(recording.counters[.corrupt] == 1)
        #expect(sinks.map(\.units.count) == [9, 9])
        for counters in recording.encoderCounters {
            #expect(CountedFrames(capture: recording.counters, encoder: counters).addUp)
        }
    }

    @Test("measures the rate by the pictures' own time, lost ones missing")
    func measuredRate() throws {
        // Ten a second, every other one of which is lost.
        let stream = try ScriptedStream(
            (0..<20).flatMap { _ in [.picture, .loss(1, 0)] }, isLive: false, bufferCount: 32)
        let outcome = try record(stream, to: ScriptedSink()).finish()
        #expect(outcome.tracks[0].measuredRate == 5)
    }

    @Test("both software codecs share a frame: libx264 and libx265 get the same picture")
    func bothCodecs() throws {
        let stream = try TestSource(
            CaptureRequest(size: PictureSize(160, 120), frameRate: FrameRate(25), pixelFormat: .yuyv),
            isPaced: false)
        var request = EncoderRequest()
        request.preference = .software
        let configurations = Codec.allCases.map { codec in
            var configuration = CompressionProperties()
            (configuration.codec, configuration.keyframeInterval) = (codec, .frames(7))
            return configuration
        }
        let providers = BackendEncoderProvider.providers(
            request, configurations: configurations, source: stream.format)
        let sinks = [ScriptedSink(), ScriptedSink()]
        let recording = try Recording(
            from: Capturing(RecordingSource(stream)),
            session: try CompressionSession(providers),
            to: [OutputPlan(sinks[0]), OutputPlan(sinks[1], .hevc)], limits: RecordingLimits(frames: 20))
        #expect(recording.finish().errors == [])
        for (sink, codec) in zip(sinks, Codec.allCases) {
            #expect(sink.units.count == 20)
            #expect(sink.idrPositions == [0, 7, 14])
            #expect(sink.units.allSatisfy { $0.codec == codec })
        }
    }
}

extension TemporaryFolder {
    /// The sizes of the files in it, by name.
    fileprivate var sizes: [String: Int] {
        var sizes: [String: Int] = [:]
        for name in Folder.names(in: path) {
            sizes[name] = FileFacts(path: path(name)).flatMap { $0.isRegular ? $0.size : nil }
        }
        return sizes
    }
}
