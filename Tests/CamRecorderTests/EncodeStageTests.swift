import Bitstream
import Encoder
import CamPictures
import Testing
import CamPlatform

@testable import Capture
@testable import CamRecorder
import CamStorage

/// The encode thread's work, done on the test's own thread.
@Suite struct EncodeStageTests {
    /// A stage with everything around it.
    final class Bench {
        let pictures: Pictures
        let frames = BoundedQueue<PixelBuffer>(capacity: 1000)
        let output = RecordingOutput(OutputPlan(ScriptedSink()), measuresLatency: false)
        let captureCounters = Counters<CaptureCounter>()
        private var encoderCounters = Counters<EncoderCounter>()
        let clock = ScriptedInterruptibleClock()
        var limits = RecordingLimits()
        var keyframeInterval = KeyframeInterval.frames(5)
        var segments: SegmentSchedule?
        /// The encoders, one for each session; without another none can be opened.
        var encoders = [ScriptedEncoder()]
        let provider: ScriptedProvider
        let control = RecordingControl()
        let stop = RecordingStop()
        init() throws {
            pictures = try Pictures()
            provider = try ScriptedProvider([])
        }

        var encoder: ScriptedEncoder { encoders[0] }

        /// Encodes `count` pictures and takes the output.
        func run(_ count: Int) -> (units: [AccessUnit], error: RecordingError?) {
            for number in 0..<count { push(pictures.picture(number)) }
            let (items, error) = run()
            return (items.compactMap { if case .unit(let unit) = $0 { unit } else { nil } }, error)
        }

        func push(_ picture: consuming PixelBuffer) {
            captureCounters.add(to: .captured)
            _ = frames.push(picture)
        }

        /// Encodes what was pushed.
        func run() -> (items: [OutputItem], error: RecordingError?) {
            frames.close()
            (provider.encoders, provider.keyframeInterval) = (encoders, keyframeInterval)
            guard let session = try? CompressionSession([provider]) else { return ([], nil) }
            session.clock = clock
            let track = EncodeTrack(
                session.renditions[0], outputs: [output], segments: segments, clock: clock)
            // Not the track itself, whose closures hold the bench.
            encoderCounters = track.counters
            let stage = EncodeStage(
                session, tracks: [track], limits: limits, frames: frames,
                ahead: ConversionAhead(frames, limit: 0) { _ in true }, counters: captureCounters,
                stop: stop, control: control)
            stage.run()
            // Closures that hold the bench would keep it forever.
            for encoder in encoders { encoder.onPicture = { _ in } }
            var taken: [OutputItem] = []
            while let item = output.items.pop() { taken.append(item) }
            return (taken, track.rendition.error.map(RecordingError.encoder))
        }

        var isInterrupted: Bool { stop.isStopRequested }

        /// Whether every captured frame is counted exactly once.
        var addsUp: Bool { counters.addUp }

        var counters: CountedFrames {
            CountedFrames(capture: captureCounters, encoder: encoderCounters)
        }
    }

    private func idrPositions(_ units: [AccessUnit]) -> [Int] { units.indices.filter { units[$0].isIDR } }

    // MARK: A source that comes back

    @Test("the first picture after the source returns is a keyframe, and the encoder stays")
    func resumed() throws {
        let bench = try Bench()
        for number in 0..<12 {
            var picture = bench.pictures.picture(number)
            picture.run = number < 7 ? 0 : number < 9 ? 1 : 3
            bench.push(picture)
        }
        let (items, error) = bench.run()
        #expect(error == nil)
        #expect(bench.encoder.kinds.indices.filter { bench.encoder.kinds[$0] == .idr } == [0, 5, 7, 9, 10])
        #expect(items.count == 12)
        #expect(bench.provider.formats.isEmpty)
        #expect(bench.counters[.restarts] == 0)
        #expect(bench.addsUp)
    }

    @Test(
        "on a new format, held-back pictures come first, then outputs hear of it, then a keyframe comes",
        arguments: [0, 3])
    func otherFormat(delay: Int) throws {
        let bench = try Bench()
        bench.encoders.append(ScriptedEncoder())
        for encoder in bench.encoders { encoder.delay = delay }
        let others = try Pictures(size: PictureSize(4, 4)!)
        for number in 0..<8 { bench.push(bench.pictures.picture(number)) }
        for number in 8..<14 {
            var picture = others.picture(number)
            picture.run = 1
            bench.push(picture)
        }
        let (items, error) = bench.run()
        #expect(error == nil)
        #expect(bench.provider.formats.map(\.size) == [PictureSize(4, 4)!])
        let numbers = items.map { item -> Int? in
            if case .unit(let unit) = item { unit.frameNumber } else { nil }
        }
        #expect(numbers == (0..<8).map(Optional.some) + [nil] + (8..<14).map(Optional.some))
        guard case .stream(let description) = items[8], case .unit(let first) = items[9] else {
            Issue.record("no description")
            return
        }
        #expect(description.width == 4)
        #expect(first.isIDR)
        #expect(bench.counters[.restarts] == 0, "the encoder did not fail")
        #expect(bench.addsUp)
    }

    @Test("a new format that no encoder accepts ends the track, and earlier pictures are kept")
    func formatNobodyTakes() throws {
        let bench = try Bench()
        bench.encoder.delay = 2
        bench.provider.openFailure = .noneUsable(["it is too large"])
        let others = try Pictures(size: PictureSize(4, 4)!)
        for number in 0..<4 { bench.push(bench.pictures.picture(number)) }
        for number in 4..<6 { bench.push(others.picture(number)) }
        let (items, error) = bench.run()
        #expect(error == .encoder(EncoderError(.noneUsable(["it is too large"]))))
        #expect(items.count == 4)
        #expect(bench.counters[.unused] == 2)
        #expect(bench.addsUp)
    }

    @Test("what the encoder holds back at the end is in the output as it comes out, one by one")
    func heldBackAtEnd() throws {
        let bench = try Bench()
        bench.encoder.delay = 3
        var accepted: [Int] = []
        bench.encoder.onAccessUnit = { [output = bench.output] in accepted.append(output.counters[.accepted])
        }
        #expect(bench.run(6).units.count == 6)
        bench.encoder.onAccessUnit = {}
        #expect(accepted == [0, 1, 2, 3, 4, 5])
    }

    // MARK: Keyframes and limits

    @Test(
        "a segment's first frame is an extra IDR, whatever the encoder holds back or loses"
    )
    func segments() throws {
        for (length, delay) in [(.frames(7), 0), (.time(.milliseconds(700)), 3)]
            as [(SegmentSchedule.Length, Int)]
        {
            let bench = try Bench()
            bench.segments = SegmentSchedule(length)
            bench.encoder.delay = delay
            #expect(idrPositions(bench.run(23).units) == [0, 5, 7, 10, 14, 15, 20, 21])
        }
        let bench = try Bench()
        bench.segments = SegmentSchedule(.frames(7))
        bench.encoders.append(ScriptedEncoder())
        bench.encoder.failures[7] = (.encoding, ScriptedEncoder.broken)
        let units = bench.run(20).units
        #expect(idrPositions(units) == [0, 5, 7, 10, 14, 15])
        #expect(units.map(\.frameNumber) == Array(0..<19))
    }

    @Test(
        "asked to end at a cut, encodes up to the next segment and nothing of it",
        arguments: [SegmentSchedule.Length.frames(7), .time(.milliseconds(700)), .bytes(1)], [0, 3])
    func endAtCut(length: SegmentSchedule.Length, delay: Int) throws {
        let bench = try Bench()
        bench.segments = SegmentSchedule(length)
        bench.encoder.delay = delay
        bench.encoder.onPicture = { if $0 == 7 + delay { bench.control.endAtCut() } }
        let (units, error) = bench.run(40)
        #expect(error == nil)
        // Sizes are looked at only with keyframes, which are every fifth.
        let end = if case .bytes = length { 10 } else { 14 }
        #expect(units.map(\.frameNumber) == Array(0..<end))
        #expect(bench.isInterrupted, "the source is to stop")
        #expect(bench.counters[.unused] == 40 - end)
        #expect(bench.addsUp)
    }

    @Test("asked to end at a cut, a recording without cuts goes on")
    func noCut() throws {
        let bench = try Bench()
        bench.control.endAtCut()
        #expect(bench.run(12).units.count == 12)
    }

    @Test("frames 0, N, 2N … are IDR, whatever the encoder holds back", arguments: [0, 1, 3])
    func grid(delay: Int) throws {
        let bench = try Bench()
        bench.encoder.delay = delay
        let (units, error) = bench.run(12)
        #expect(error == nil)
        #expect(units.map(\.frameNumber) == Array(0..<12))
        #expect(idrPositions(units) == [0, 5, 10])
        #expect(bench.addsUp)
    }

    @Test("a requested keyframe is an extra one, and does not move the grid")
    func requestedKeyframe() throws {
        let bench = try Bench()
        bench.encoder.onPicture = { if $0 == 6 { bench.control.requestKeyframe() } }
        let (units, error) = bench.run(12)
        #expect(error == nil)
        #expect(idrPositions(units) == [0, 5, 7, 10])
    }

    @Test(
        "changing the bit rate loses no frame, opens an encoder, begins with a keyframe, and is no restart",
        arguments: [0, 2])
    func bitRate(delay: Int) throws {
        let bench = try Bench()
        bench.encoders.append(ScriptedEncoder())
        for encoder in bench.encoders { encoder.delay = delay }
        bench.encoder.onPicture = { if $0 == 6 { bench.control.changeBitRate(to: 2_000_000) } }
        let (units, error) = bench.run(12)
        #expect(error == nil)
        #expect(units.map(\.frameNumber) == Array(0..<12))
        #expect(idrPositions(units) == [0, 5, 7, 10])
        #expect(bench.provider.rates == [.average(2_000_000)])
        #expect(bench.counters[.restarts] == 0)
        #expect(bench.addsUp)
    }

    @Test("an encoder that can change its rate while open continues, without a keyframe")
    func bitRateInPlace() throws {
        let bench = try Bench()
        bench.provider.changesRateInPlace = true
        bench.encoder.onPicture = {
            if $0 == 6 { bench.control.changeBitRate(to: 2_000_000) }
            if $0 == 8 { bench.control.changeMaximumBitRate(to: 3_000_000) }
        }
        let (units, error) = bench.run(12)
        #expect(error == nil)
        #expect(idrPositions(units) == [0, 5, 10])
        #expect(bench.provider.rates == [.average(2_000_000), .maximum(3_000_000)])
    }

    @Test("knows before the first picture which rates can change")
    func rateChanges() throws {
        let bench = try Bench()
        bench.encoder.rateChanges = [.maximum, .averageInPlace]
        _ = bench.run(0)
        #expect(bench.control.rateChanges == [.maximum, .averageInPlace])
    }

    @Test(
        "an encoder that needs a new session gets it at the next regular keyframe, and no frame is lost"
    )
    func anotherSession() throws {
        let bench = try Bench()
        bench.encoders.append(ScriptedEncoder())
        for encoder in bench.encoders { encoder.delay = 2 }
        bench.encoder.onPicture = { if $0 == 6 { bench.encoder.wantsAnotherSession = true } }
        let (units, error) = bench.run(14)
        #expect(error == nil)
        #expect(units.map(\.frameNumber) == Array(0..<14))
        #expect(idrPositions(units) == [0, 5, 10])
        #expect(bench.encoders.map(\.kinds.count) == [10, 4])
        #expect(bench.counters[.restarts] == 0)
        #expect(bench.addsUp)
    }

    @Test("a time interval counts capture: lost frames do not stretch it")
    func keyframesByTime() throws {
        let bench = try Bench()
        bench.keyframeInterval = .seconds(1)
        // Ten a second, and of the later ones every third.
        for number in Array(0..<15) + Array(stride(from: 15, to: 60, by: 3)) {
            bench.push(bench.pictures.picture(number))
        }
        let units = bench.run().items.compactMap { if case .unit(let unit) = $0 { unit } else { nil } }
        #expect(
            units.filter(\.isIDR).map(\.timestamp)
                == [0, 10, 21, 33, 45, 57].map { .start + .milliseconds(100) * $0 })
    }

    @Test("a bit rate that no encoder opens with is a failure like others: another is tried")
    func badBitRate() throws {
        let bench = try Bench()
        bench.encoder.onPicture = { if $0 == 6 { bench.control.changeBitRate(to: 1) } }
        let (units, error) = bench.run(12)
        #expect(units.count == 7)
        #expect(error == .encoder(EncoderError(bench.provider.openFailure)))
        #expect(bench.addsUp)
    }

    @Test("reports the failure itself, at once, if every encoder fails on its first picture")
    func exhausted() throws {
        let bench = try Bench()
        bench.encoder.failures[0] = (.encoding, ScriptedEncoder.broken)
        bench.provider.openFailure = .exhausted(["it failed on its first picture"])
        #expect(bench.run(3).error == .encoder(EncoderError(ScriptedEncoder.broken)))
        #expect(bench.counters[.restarts] == 1)
    }

    @Test(
        "a frame limit is exact, and stops the source at the last frame that counts", arguments: [1, 7, 20])
    func frameLimit(limit: Int) throws {
        let bench = try Bench()
        bench.limits = RecordingLimits(frames: limit)
        bench.encoder.onPicture = { [unowned bench] in if $0 < limit - 1 { #expect(!bench.isInterrupted) } }
        let (units, _) = bench.run(20)
        #expect(units.count == limit)
        #expect(bench.isInterrupted)
        #expect(bench.counters[.unused] == 20 - limit)
        #expect(bench.addsUp)
    }

    @Test("a duration counts the pictures' own time, starting with the first")
    func duration() throws {
        let bench = try Bench()
        // Pictures come 100 ms apart.
        bench.limits = RecordingLimits(duration: .milliseconds(550))
        let (units, _) = bench.run(20)
        #expect(units.map(\.sequence) == [0, 1, 2, 3, 4, 5])
        #expect(bench.isInterrupted)
        #expect(bench.addsUp)
    }

    // MARK: Damaged pictures

    @Test("a damaged picture counts, and moves neither the grid nor the limit")
    func damaged() throws {
        let bench = try Bench()
        bench.limits = RecordingLimits(frames: 10)
        for number in [0, 3, 7] { bench.encoder.failures[number] = (.encoding, .damagedPicture("")) }
        let (units, error) = bench.run(20)
        #expect(error == nil)
        #expect(units.count == 10)
        #expect(idrPositions(units) == [0, 5])
        #expect(bench.counters[.corrupt] == 3)
        #expect(bench.counters[.restarts] == 0)
        #expect(bench.addsUp)
    }

    @Test("counts frames dropped for an output without room separately")
    func dropsForOutputs() throws {
        let bench = try Bench()
        let (captured, output) = (bench.captureCounters, bench.output.counters)
        bench.encoder.onPicture = { number in
            captured.add(number == 2 || number == 4 ? 5 : 0, to: .droppedByUs)
            output.add(number == 4 ? 1 : 0, to: .waits)
        }
        _ = bench.run(6)
        #expect(captured[.droppedByUs] == 10)
        #expect(captured[.droppedForOutput] == 5)
        #expect(captured[.droppedInRestart] == 0)
    }

    @Test("counts pictures that the encoder swallows")
    func swallowed() throws {
        let bench = try Bench()
        bench.encoder.swallows = [2, 3, 8]
        let (units, error) = bench.run(10)
        #expect(error == nil)
        #expect(units.count == 7)
        #expect(bench.counters[.droppedByEncoder] == 3)
        #expect(bench.addsUp)
    }

    // MARK: Restarts

    @Test(
        "a failed encoder is replaced: the next frame is an IDR, the grid does not move",
        arguments: [ScriptedEncoder.Failure.encoding, .output])
    func restart(failure: ScriptedEncoder.Failure) throws {
        let bench = try Bench()
        bench.encoder.failures[3] = (failure, ScriptedEncoder.broken)
        bench.encoders.append(ScriptedEncoder())
        let (units, error) = bench.run(20)
        #expect(error == nil)
        #expect(units.count == 19)
        #expect(units.map(\.sequence).prefix(5) == [0, 1, 2, 4, 5])
        #expect(idrPositions(units) == [0, 3, 5, 10, 15])
        #expect(bench.counters[.restarts] == 1)
        #expect(bench.counters[.droppedByEncoder] == 1)
        #expect(bench.addsUp)
    }

    @Test("frames that the failed encoder held back are lost and counted, but keep their places in the grid")
    func restartWithDelay() throws {
        let bench = try Bench()
        bench.encoder.delay = 3
        bench.encoder.failures[4] = (.output, ScriptedEncoder.broken)
        bench.encoders.append(ScriptedEncoder())
        let (units, error) = bench.run(20)
        #expect(error == nil)
        // Pictures 4 to 7 were inside when 4 failed to come out.
        #expect(units.map(\.sequence) == [0, 1, 2, 3] + Array(8..<20))
        #expect(idrPositions(units) == [0, 4, 5, 10, 15])
        #expect(bench.counters[.droppedByEncoder] == 4)
        #expect(bench.addsUp)
    }

    @Test(
        "frames held back by an encoder that did not accept a picture are not lost, unless a driver failed",
        arguments: [true, false])
    func restartWithoutLoss(waitsForDriver: Bool) throws {
        let bench = try Bench()
        (bench.encoder.delay, bench.encoder.waitsForDriver) = (3, waitsForDriver)
        bench.encoder.failures[7] = (.encoding, ScriptedEncoder.broken)
        bench.encoders.append(ScriptedEncoder())
        let (units, error) = bench.run(20)
        #expect(error == nil)
        #expect(units.map(\.sequence) == (0..<20).filter { waitsForDriver ? !(4...7).contains($0) : $0 != 7 })
        #expect(bench.counters[.droppedByEncoder] == (waitsForDriver ? 4 : 1))
        #expect(bench.counters[.restarts] == 1)
        #expect(bench.addsUp)
    }

    @Test("a limit counts encoded frames: those lost with an encoder are made up for")
    func restartAndLimit() throws {
        let bench = try Bench()
        bench.limits = RecordingLimits(frames: 10)
        bench.encoder.delay = 2
        bench.encoder.failures[6] = (.encoding, ScriptedEncoder.broken)
        bench.encoders.append(ScriptedEncoder())
        let (units, _) = bench.run(30)
        #expect(units.count == 10)
        #expect(bench.addsUp)
    }

    @Test("restarts are at least a second apart, and at most three a minute")
    func restartLimit() throws {
        let bench = try Bench()
        bench.encoders = (0..<5).map { _ in
            let encoder = ScriptedEncoder()
            encoder.failures[1] = (.encoding, ScriptedEncoder.broken)
            return encoder
        }
        let start = bench.clock.now
        let (units, error) = bench.run(20)
        #expect(error == .encoder(EncoderError(ScriptedEncoder.broken)))
        #expect(units.count == 4)
        #expect(bench.counters[.restarts] == 3)
        #expect(bench.clock.waits == [start + .seconds(1), start + .seconds(2)])
        #expect(bench.isInterrupted)
        #expect(bench.counters[.droppedByEncoder] == 4)
        #expect(bench.counters[.unused] == 12)
        #expect(bench.addsUp)
    }

    @Test("allows restarts again a minute later")
    func laterRestarts() throws {
        let bench = try Bench()
        bench.encoders = (0..<6).map { _ in
            let encoder = ScriptedEncoder()
            encoder.failures[2] = (.encoding, ScriptedEncoder.broken)
            encoder.onPicture = { [unowned bench] _ in bench.clock.pass(.seconds(15)) }
            return encoder
        }
        bench.encoders.append(ScriptedEncoder())
        let (_, error) = bench.run(40)
        #expect(error == nil)
        #expect(bench.counters[.restarts] == 6)
        #expect(bench.addsUp)
    }

    @Test("tries three times, a second apart, to reopen an encoder")
    func doesNotReopen() throws {
        let bench = try Bench()
        bench.encoder.failures[2] = (.encoding, ScriptedEncoder.broken)
        let (units, error) = bench.run(10)
        #expect(error == .encoder(EncoderError(.openFailed(encoder: "scripted", detail: "gone"))))
        #expect(units.count == 2)
        #expect(bench.clock.waits.count == 2)
        #expect(bench.counters[.restarts] == 3)
        #expect(bench.addsUp)
    }

    @Test("a stop ends the pause before a restart, and that is a clean end")
    func stopWhilePausing() throws {
        let bench = try Bench()
        bench.encoder.failures[2] = (.encoding, ScriptedEncoder.broken)
        bench.clock.isStopRequested = true
        let (units, error) = bench.run(10)
        #expect(error == nil)
        #expect(units.count == 2)
        #expect(bench.counters[.restarts] == 1)
        #expect(bench.addsUp)
    }

    @Test("an error that no restart fixes ends the recording")
    func fatal() throws {
        let bench = try Bench()
        bench.encoder.failures[4] = (.encoding, .unsupported("no more"))
        let (units, error) = bench.run(10)
        #expect(error == .encoder(EncoderError(.unsupported("no more"))))
        #expect(units.count == 4)
        #expect(bench.counters[.restarts] == 0)
        #expect(bench.counters[.unused] == 5)
        #expect(bench.addsUp)
    }

    @Test("what the encoder holds back when a pause begins is in the outputs before the pause ends")
    func heldBackAtPause() throws {
        let bench = try Bench()
        bench.encoder.delay = 3
        bench.encoder.onPicture = { [control = bench.control] in if $0 == 6 { control.pause() } }
        bench.encoders.append(ScriptedEncoder())
        let (units, error) = bench.run(20)
        #expect(error == nil)
        #expect(units.map(\.sequence) == Array(0..<7))
        #expect(bench.counters[.paused] == 13)
        #expect(bench.counters[.droppedByEncoder] == 0)
        #expect(bench.addsUp)
    }

    @Test("what the encoder holds back when no output takes more is unused, not lost")
    func nobodyTakesMore() throws {
        let bench = try Bench()
        bench.encoder.delay = 3
        bench.encoder.onPicture = { [output = bench.output] in if $0 == 6 { output.close() } }
        let (_, error) = bench.run(10)
        #expect(error == nil)
        #expect(bench.counters[.droppedByEncoder] == 0)
        #expect(bench.counters[.unused] > 3)
        #expect(bench.addsUp)
    }

    @Test("an encoder that fails while draining loses its last frames, counted")
    func drainFails() throws {
        let bench = try Bench()
        bench.encoder.delay = 3
        bench.encoder.drainFailure = ScriptedEncoder.broken
        let (units, error) = bench.run(10)
        #expect(error == .encoder(EncoderError(ScriptedEncoder.broken)))
        #expect(units.count == 7)
        #expect(bench.counters[.droppedByEncoder] == 3)
        #expect(bench.addsUp)
    }
}
