import Bitstream
import Encoder
import CamPictures
import TestSupport
import Testing
import CamPlatform
import Containers

@testable import CamRecorder

/// Encoders whose calls never return, and a watchdog that the test drives.
@Suite(.hangGuard) struct HungEncoderTests {
    /// Tracks with encoders that hang, and everything that they need.
    final class Bench: @unchecked Sendable {
        // Safe to share: belongs to the encode thread while there is one.
        let pictures: Pictures
        let frames = BoundedQueue<PixelBuffer>(capacity: 100)
        let captureCounters = Counters<CaptureCounter>()
        let control = RecordingControl()
        let clock = ScriptedInterruptibleClock()
        let stop = RecordingStop()
        /// Never opened: what waits for it hangs.
        let never = Gate()
        private(set) var tracks: [EncodeTrack] = []
        private(set) var outputs: [RecordingOutput] = []
        private(set) var providers: [ScriptedProvider] = []
        var hasSoftware = true

        init() throws { pictures = try Pictures() }

        /// Adds a track with these encoders, used one after another.
        func add(_ encoders: [ScriptedEncoder]) throws {
            let output = RecordingOutput(OutputPlan(ScriptedSink()), measuresLatency: false)
            outputs.append(output)
            let provider = try ScriptedProvider(encoders)
            provider.hasSoftware = hasSoftware
            providers.append(provider)
        }

        func push(_ picture: consuming PixelBuffer) {
            captureCounters.add(to: .captured)
            _ = frames.push(picture)
        }

        /// Encodes what was pushed and this many pictures; each time that an encoder hangs the watchdog loses patience.
        func run(_ count: Int, hangs: [Gate]) throws -> CompressionSession {
            let stage = try start(count)
            for hang in hangs {
                hang.wait()
                // Once to see the call, and five times to see it still.
                for _ in 0..<6 { stage.session.look() }
            }
            stage.join()
            return stage.session
        }

        func start(_ count: Int) throws -> EncodeStage {
            for number in 0..<count { push(pictures.picture(number)) }
            frames.close()
            let session = try CompressionSession(providers, isWatched: false)
            session.clock = clock
            tracks = zip(session.renditions, outputs).map { [clock] rendition, output in
                EncodeTrack(rendition, outputs: [output], clock: clock)
            }
            let stage = EncodeStage(
                session, tracks: tracks, limits: RecordingLimits(), frames: frames,
                ahead: ConversionAhead(frames, limit: 0) { _ in true }, counters: captureCounters,
                stop: stop, control: control)
            #expect(stage.start())
            return stage
        }

        /// An encoder that hangs when this picture comes, counted from 0, and the gate that opens then.
        /// - Parameter time: what has passed by then.
        func hanging(at picture: Int, after time: Duration = .zero) -> (encoder: ScriptedEncoder, gate: Gate)
        {
            let (encoder, gate) = (ScriptedEncoder(), Gate())
            encoder.waitsForDriver = true
            encoder.onPicture = { [never, clock] in
                guard $0 == picture else { return }
                clock.pass(time)
                gate.open()
                never.wait()
            }
            return (encoder, gate)
        }

        func units(_ track: Int = 0) -> [AccessUnit] { items(track).units }

        func items(_ track: Int = 0) -> (units: [AccessUnit], descriptions: [StreamDescription]) {
            var (units, descriptions) = ([AccessUnit](), [StreamDescription]())
            while let item = outputs[track].items.pop() {
                switch item {
                case .unit(let unit): units.append(unit)
                case .stream(let description): descriptions.append(description)
                default: break
                }
            }
            return (units, descriptions)
        }

        /// Tracks whose closures hold the bench would keep it forever. Threads that hang do so anyhow.
        func letGo() { tracks = [] }

        func addsUp(_ track: Int = 0) -> Bool {
            CountedFrames(capture: captureCounters, encoder: tracks[track].counters).addUp
        }
    }

    @Test("abandons the thread with its picture, and another continues with a keyframe in a new session")
    func hangs() throws {
        let bench = try Bench()
        let (first, gate) = bench.hanging(at: 3)
        try bench.add([first, ScriptedEncoder()])
        let session = try bench.run(10, hangs: [gate])
        let units = bench.units()
        #expect(units.map(\.sequence) == [0, 1, 2, 4, 5, 6, 7, 8, 9])
        #expect(units.map(\.frameNumber) == Array(0..<9))
        #expect(units.indices.filter { units[$0].isIDR } == [0, 3, 5])
        #expect(bench.tracks[0].rendition.error == nil)
        #expect(bench.tracks[0].counters[.droppedByEncoder] == 1)
        #expect(bench.tracks[0].counters[.restarts] == 1)
        #expect(bench.providers[0].discards == 1)
        #expect(bench.providers[0].wishesToGiveUp == 0)
        #expect(session.hasHungThread)
        #expect(bench.addsUp())
    }

    @Test("waits for software, however long it takes")
    func software() throws {
        let bench = try Bench()
        let (encoder, gate) = bench.hanging(at: 2)
        encoder.waitsForDriver = false
        try bench.add([encoder])
        let stage = try bench.start(6)
        gate.wait()
        for _ in 0..<100 { stage.session.look() }
        bench.never.open()
        stage.join()
        #expect(!stage.session.hasHungThread)
        #expect(bench.units().count == 6)
        bench.letGo()
    }

    @Test("reopens every encoder, because they share a display, and each counts the picture once")
    func severalTracks() throws {
        let bench = try Bench()
        let (hanging, gate) = bench.hanging(at: 2)
        try bench.add([ScriptedEncoder(), ScriptedEncoder()])
        try bench.add([hanging, ScriptedEncoder()])
        try bench.add([ScriptedEncoder(), ScriptedEncoder()])
        _ = try bench.run(6, hangs: [gate])
        #expect(bench.units(0).map(\.sequence) == [0, 1, 2, 3, 4, 5])
        #expect(bench.units(1).map(\.sequence) == [0, 1, 3, 4, 5])
        #expect(bench.units(2).map(\.sequence) == [0, 1, 3, 4, 5])
        #expect(bench.tracks[1].counters[.droppedByEncoder] == 1)
        #expect(bench.tracks[2].counters[.unused] == 1)
        for track in 0..<3 { #expect(bench.addsUp(track)) }
    }

    @Test("an access unit is in its output before the other codec's encoder has its picture")
    func severalCodecs() throws {
        let bench = try Bench()
        let (first, second) = (ScriptedEncoder(), ScriptedEncoder())
        try bench.add([first])
        try bench.add([second])
        var accepted: [Int] = []
        second.onPicture = { [output = bench.outputs[0]] _ in accepted.append(output.counters[.accepted]) }
        _ = try bench.run(4, hangs: [])
        second.onPicture = { _ in }
        #expect(accepted == [1, 2, 3, 4])
    }

    @Test("a session that has finished takes no more pictures, and does not hang")
    func afterTheEnd() throws {
        let bench = try Bench()
        try bench.add([ScriptedEncoder()])
        let session = try bench.run(2, hangs: [])
        _ = session.encode(bench.pictures.picture(2))
        session.finish()
        #expect(bench.units().count == 2)
    }

    @Test("the fourth hang within a minute switches to software")
    func fallsBack() throws {
        let bench = try Bench()
        let hangs = (0..<4).map { _ in bench.hanging(at: 1) }
        try bench.add(hangs.map(\.encoder) + [ScriptedEncoder()])
        _ = try bench.run(12, hangs: hangs.map(\.gate))
        #expect(bench.units().map(\.sequence) == [0, 2, 4, 6, 8, 9, 10, 11])
        #expect(bench.providers[0].wishesToGiveUp == 1)
        #expect(bench.tracks[0].rendition.error == nil)
        #expect(bench.addsUp())
    }

    @Test("the eighth hang switches to software, however rare: each one leaks its memory")
    func mostHangs() throws {
        let bench = try Bench()
        let hangs = (0..<8).map { _ in bench.hanging(at: 1, after: .seconds(3600)) }
        try bench.add(hangs.map(\.encoder) + [ScriptedEncoder()])
        _ = try bench.run(20, hangs: hangs.map(\.gate))
        #expect(bench.units().map(\.sequence) == [0, 2, 4, 6, 8, 10, 12, 14, 16, 17, 18, 19])
        #expect(bench.providers[0].discards == 8)
        #expect(bench.providers[0].wishesToGiveUp == 1)
        #expect(bench.tracks[0].rendition.error == nil)
        #expect(bench.addsUp())
    }

    @Test("without software that ends the recording, keeping what was encoded, and without blocking")
    func noSoftware() throws {
        let bench = try Bench()
        bench.hasSoftware = false
        let hangs = (0..<4).map { _ in bench.hanging(at: 1) }
        try bench.add(hangs.map(\.encoder) + [ScriptedEncoder()])
        _ = try bench.run(12, hangs: hangs.map(\.gate))
        #expect(bench.units().map(\.sequence) == [0, 2, 4, 6])
        #expect(bench.tracks[0].rendition.error == EncoderError(.hung))
        #expect(bench.addsUp())
    }

    @Test("one that hangs at the end loses what it held back, and nothing replaces it")
    func hangsAtEnd() throws {
        let bench = try Bench()
        let (encoder, gate, never) = (ScriptedEncoder(), Gate(), bench.never)
        encoder.waitsForDriver = true
        encoder.delay = 2
        encoder.onDrain = {
            gate.open()
            never.wait()
        }
        try bench.add([encoder, ScriptedEncoder()])
        _ = try bench.run(6, hangs: [gate])
        #expect(bench.units().count == 4)
        #expect(bench.tracks[0].rendition.error == EncoderError(.hung))
        #expect(bench.tracks[0].counters[.droppedByEncoder] == 2)
        #expect(bench.tracks[0].counters[.restarts] == 0)
        #expect(bench.addsUp())
    }

    @Test("one that hangs after the stop is the last, whatever is still queued")
    func hangsWhenStopped() throws {
        let bench = try Bench()
        let (encoder, gate) = bench.hanging(at: 3)
        try bench.add([encoder, ScriptedEncoder()])
        let stage = try bench.start(10)
        gate.wait()
        bench.clock.isStopRequested = true
        bench.captureCounters.add(7, to: .captured)
        bench.captureCounters.add(7, to: .droppedByUs)
        for _ in 0..<6 { stage.session.look() }
        stage.join()
        #expect(bench.captureCounters[.droppedInRestart] == 7)
        #expect(bench.units().map(\.sequence) == [0, 1, 2])
        #expect(bench.tracks[0].rendition.error == EncoderError(.hung))
        #expect(bench.tracks[0].counters[.restarts] == 0)
        #expect(bench.addsUp())
    }

    @Test(
        "one that hangs while the format changes is replaced by one for the new format, and no picture is lost"
    )
    func hangsAtNewFormat() throws {
        let bench = try Bench()
        let (first, gate, never) = (ScriptedEncoder(), Gate(), bench.never)
        first.waitsForDriver = true
        first.onDrain = {
            gate.open()
            never.wait()
        }
        try bench.add([first, ScriptedEncoder()])
        let others = try Pictures(size: PictureSize(4, 4)!)
        for number in 0..<3 { bench.push(bench.pictures.picture(number)) }
        for number in 3..<6 { bench.push(others.picture(number)) }
        _ = try bench.run(0, hangs: [gate])
        #expect(bench.providers[0].formats.map(\.size) == [PictureSize(4, 4)!])
        let items = bench.items()
        #expect(items.units.map(\.sequence) == [0, 1, 2, 3, 4, 5])
        #expect(items.units[3].isIDR)
        #expect(items.descriptions.map(\.width) == [4])
        #expect(bench.addsUp())
    }

    @Test("the watchdog counts its own looks at the same call, from the second on")
    func watchdog() {
        let watch = CallWatch()
        var watchdog = CallWatch.Watchdog(watch)
        func looks(_ count: Int) -> [Bool] { (0..<count).map { _ in watchdog.tick() } }
        #expect(looks(9).allSatisfy { !$0 }, "no call")
        for _ in 0..<9 {
            let call = watch.begin(patience: 3)
            #expect(looks(3).allSatisfy { !$0 }, "each call has its own time")
            watch.end(call)
        }
        let unlimited = watch.begin(patience: nil)
        #expect(looks(99).allSatisfy { !$0 })
        watch.end(unlimited)
        _ = watch.begin(patience: 3)
        #expect(looks(9) == [false, false, false, true, false, false, false, false, false])
    }
}
