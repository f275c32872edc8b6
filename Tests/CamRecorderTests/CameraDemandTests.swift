import CamPlatform
import Bitstream
import Capture
import Encoder
import TestSupport
import Testing

@testable import CamRecorder

/// A camera that is on only while somebody watches.
@Suite(.hangGuard) struct CameraDemandTests {
    @Test("is wanted while somebody watches, and for a while afterwards")
    func linger() {
        let (brief, long) = (CameraDemand(linger: .zero), CameraDemand(linger: .seconds(1000)))
        for demand in [brief, long] {
            let count = demand.makeCounter(of: 0)
            #expect(!demand.isWanted)
            count(2)
            count(1)
            #expect(demand.isWanted)
            count(0)
        }
        #expect(!brief.isWanted && long.isWanted)
    }

    @Test("is wanted as long as any output has a viewer")
    func severalOutputs() {
        let demand = CameraDemand(linger: .zero)
        let (first, second) = (demand.makeCounter(of: 0), demand.makeCounter(of: 0))
        first(1)
        second(1)
        second(0)
        #expect(demand.isWanted)
        first(0)
        #expect(!demand.isWanted)
    }

    @Test("a rendition is wanted while somebody watches one of its outputs, and for a while afterwards")
    func renditions() {
        let (brief, long) = (CameraDemand(linger: .zero), CameraDemand(linger: .seconds(1000)))
        for demand in [brief, long] {
            let counts = [0, 1, 1].map { demand.makeCounter(of: $0) }
            counts[2](1)
            #expect(!demand.isWanted(rendition: 0) && demand.isWanted(rendition: 1))
            counts[1](0)
            #expect(demand.isWanted(rendition: 1))
            counts[0](1)
            counts[2](0)
            #expect(demand.isWanted(rendition: 0))
        }
        #expect(!brief.isWanted(rendition: 1) && long.isWanted(rendition: 1))
    }

    @Test("a picture alone turns it on, too")
    func picture() {
        // Also if it goes off at once when the last viewer leaves.
        let demand = CameraDemand(linger: .zero)
        demand.wantPicture()
        #expect(demand.waitForViewer(until: .distantFuture))
        #expect(!demand.isCameraOff)
    }

    @Test("the wait for a viewer ends with its time, and with the recording")
    func ends() {
        let demand = CameraDemand(linger: .zero)
        #expect(!demand.waitForViewer(until: .now))
        demand.cancel()
        #expect(!demand.waitForViewer(until: .distantFuture))
    }

    @Test("the camera is closed while nobody watches; then it begins with a keyframe and loses nothing")
    func onAndOff() throws {
        let (demand, hasLeft, pictures) = (CameraDemand(linger: .zero), Gate(), try Pictures())
        let (first, second) = (
            try ScriptedStream([.pictures(3), .wait(hasLeft), .picture], isLive: false, pictures: pictures),
            try ScriptedStream([.pictures(2)], isLive: false, pictures: pictures)
        )
        let closed = try ScriptedStream([], isLive: false, pictures: pictures)
        let streams = UncheckedTransfer([first, second])
        let events = UncheckedTransfer<[SourceEvent]>([])
        var source = RecordingSource(
            closed, reopen: { (_) throws(CaptureError) in streams.value.removeFirst() }, timeout: nil,
            report: { event, _ in events.value.append(event) })
        source.demand = demand
        let sink = ScriptedSink()
        let recording = try Recording(
            from: Capturing(source),
            session: try RecordingTests.session(ScriptedEncoder(), keyframeInterval: .frames(100)),
            to: [OutputPlan(sink)], limits: RecordingLimits())
        let watchers = demand.makeCounter(of: 0)
        try #require(eventually { recording.isCameraOff })
        #expect(closed.isReleased && first.startCount == 0)
        watchers(1)
        try #require(eventually { recording.encoderCounters[0][.encoded] == 3 })
        #expect(!recording.isCameraOff)
        watchers(0)
        hasLeft.open()
        try #require(eventually { recording.isCameraOff && first.isReleased })
        // The picture is passed over before the next viewer comes.
        try #require(eventually { recording.encoderCounters[0][.unused] == 1 })
        #expect(second.startCount == 0)
        watchers(1)
        let outcome = recording.finish()
        #expect(outcome.errors.isEmpty)
        // A picture that was captured after the viewer left is not encoded.
        #expect(sink.units.map(\.isIDR) == [true, false, false, true, false])
        #expect(recording.encoderCounters[0][.unused] == 1)
        #expect(recording.counters[.turnedOn] == 2 && recording.counters[.sourceRestarts] == 0)
        #expect(recording.counters[.millisecondsLost] == 0 && recording.counters[.outages] == 0)
        let (off, on) = (SourceEvent.turnedOff(device: "scripted"), SourceEvent.turnedOn(device: "scripted"))
        #expect(events.value == [off, on, off, on])
    }

    @Test("an encoder rests while its rendition has no viewers, and continues with a keyframe")
    func rest() throws {
        let (demand, gates) = (CameraDemand(linger: .zero), [Gate(), Gate(), Gate()])
        let stream = try ScriptedStream(
            [
                .pictures(3), .wait(gates[0]), .pictures(2), .wait(gates[1]), .pictures(4), .wait(gates[2]),
                .picture,
            ], isLive: false)
        var source = RecordingSource(
            stream, reopen: { (_) throws(CaptureError) in throw .init(.lost, device: "") })
        source.demand = demand
        let (whole, small) = (ScriptedSink(), ScriptedSink())
        let providers = try [Codec.h264, .hevc].map {
            try ScriptedProvider([ScriptedEncoder()], codec: $0, keyframeInterval: .frames(100))
        }
        let watch = (demand.makeCounter(of: 0), demand.makeCounter(of: 1))
        watch.0(1)
        let recording = try Recording(
            from: Capturing(source), session: try CompressionSession(providers),
            to: [OutputPlan(whole), OutputPlan(small, .hevc)], limits: RecordingLimits())
        func encoded(_ counts: Int...) -> Bool {
            recording.encoderCounters.map { $0[.encoded] } == counts
        }
        try #require(eventually { encoded(3, 0) })
        watch.1(1)
        gates[0].open()
        try #require(eventually { encoded(5, 2) })
        watch.0(0)
        gates[1].open()
        try #require(eventually { encoded(5, 6) })
        watch.0(1)
        gates[2].open()
        #expect(recording.finish().errors.isEmpty)
        #expect(whole.units.indices.filter { whole.units[$0].isIDR } == [0, 5])
        #expect(small.units.indices.filter { small.units[$0].isIDR } == [0])
        #expect(whole.units.count == 6 && small.units.count == 7)
        #expect(recording.encoderCounters.map { $0[.unused] } == [4, 3])
    }

    @Test("the requested number of frames of the rendition that is watched ends the recording")
    func frames() throws {
        let demand = CameraDemand(linger: .zero)
        let stream = try ScriptedStream([.pictures(1000)], isLive: false)
        var source = RecordingSource(
            stream, reopen: { (_) throws(CaptureError) in throw .init(.lost, device: "") })
        source.demand = demand
        let providers = try [Codec.h264, .hevc].map { try ScriptedProvider([ScriptedEncoder()], codec: $0) }
        demand.makeCounter(of: 0)(1)
        _ = demand.makeCounter(of: 1)
        let (whole, small) = (ScriptedSink(), ScriptedSink())
        let recording = try Recording(
            from: Capturing(source), session: try CompressionSession(providers),
            to: [OutputPlan(whole), OutputPlan(small, .hevc)], limits: RecordingLimits(frames: 20))
        #expect(recording.finish().errors.isEmpty)
        #expect(whole.units.count == 20 && small.units.isEmpty)
    }

    @Test("a recording that nobody ever watches ends when it is asked to")
    func nobody() throws {
        var source = RecordingSource(
            try ScriptedStream([.pictures(9)]),
            reopen: { (_) throws(CaptureError) in throw .init(.lost, device: "") })
        source.demand = CameraDemand(linger: .zero)
        let sink = ScriptedSink()
        let recording = try Recording(
            from: Capturing(source), session: try RecordingTests.session(ScriptedEncoder()),
            to: [OutputPlan(sink)], limits: RecordingLimits())
        try #require(eventually { recording.isCameraOff })
        recording.stop()
        #expect(recording.finish().errors.isEmpty && sink.units.isEmpty)
    }

    @Test("a camera that somebody else uses when it is wanted is waited for")
    func busy() throws {
        let (demand, pictures) = (CameraDemand(linger: .zero), try Pictures())
        let openings = UncheckedTransfer<[Result<ScriptedStream, CaptureError>]>([
            .failure(CaptureError(.busy(holder: nil), device: "scripted")),
            .success(try ScriptedStream([.pictures(2)], isLive: false, pictures: pictures)),
        ])
        var source = RecordingSource(
            try ScriptedStream([], isLive: false, pictures: pictures),
            reopen: { (_) throws(CaptureError) in try openings.value.removeFirst().get() },
            timeout: nil)
        source.demand = demand
        let sink = ScriptedSink()
        let recording = try Recording(
            from: Capturing(source), session: try RecordingTests.session(ScriptedEncoder()),
            to: [OutputPlan(sink)], limits: RecordingLimits())
        try #require(eventually { recording.isCameraOff })
        demand.makeCounter(of: 0)(1)
        #expect(recording.finish().errors.isEmpty && sink.units.count == 2)
    }
}
