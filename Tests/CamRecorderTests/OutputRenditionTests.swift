import Bitstream
import CamNetworking
import CamPictures
import CamPlatform
import Encoder
import TestSupport
import Testing

@testable import CamRecorder

/// Outputs with a rendition of their own, in one recording.
@Suite(.hangGuard) struct OutputRenditionTests {
    private let full = ScriptedSink()
    private let small = ScriptedSink()

    /// Plans with renditions of these properties, in order.
    private func plans(_ properties: [(inout RenditionChoice) -> Void]) -> [OutputPlan] {
        zip([full, small], properties).enumerated().map { index, plan in
            var rendition = RenditionChoice()
            plan.1(&rendition)
            return OutputPlan(
                OutputChoice(path: "\(index).h264", codec: nil, rendition: rendition), rendition: index,
                sink: plan.0)
        }
    }

    private func record(
        _ count: Int, _ providers: [ScriptedProvider], _ properties: [(inout RenditionChoice) -> Void],
        control: RecordingControl = RecordingControl(), limits: RecordingLimits
    ) throws -> RecordingOutcome {
        try Recording(
            from: Capturing(RecordingSource(ScriptedStream([.pictures(count)], isLive: false))),
            session: CompressionSession(providers), to: plans(properties), control: control, limits: limits
        ).finish()
    }

    private func provider(every interval: Duration? = nil) throws -> ScriptedProvider {
        let provider = try ScriptedProvider([ScriptedEncoder(), ScriptedEncoder()])
        provider.pictureInterval = interval
        return provider
    }

    @Test("each output gets its own stream, and the report names its encoder")
    func streams() throws {
        let outcome = try record(
            20, [provider(), provider(every: .milliseconds(500))],
            [{ _ in }, { $0.frameRate = FrameRate(2) }],
            limits: RecordingLimits())
        #expect(full.sequences == (0..<20).map(UInt32.init))
        #expect(small.sequences == [0, 5, 10, 15])
        #expect(outcome.outputs.map(\.track) == [0, 1])
        #expect(outcome.tracks.map { $0.counters[.encoded] } == [20, 4])
        #expect(outcome.tracks.map { $0.counters[.unused] } == [0, 16])
    }

    @Test("with --frames, a stream of fewer frames ends with the others")
    func frames() throws {
        let outcome = try record(
            100, [provider(every: .milliseconds(500)), provider()],
            [{ $0.frameRate = FrameRate(2) }, { _ in }],
            limits: RecordingLimits(frames: 30))
        #expect(
            outcome.errors.isEmpty && full.sequences == [0, 5, 10, 15, 20, 25] && small.units.count == 30)
    }

    @Test("it ends with them in any order, also if the file of all pictures has failed")
    func failedFrames() throws {
        full.failures[3] = .diskFull
        let outcome = try record(
            100, [provider(), provider(every: .milliseconds(500))],
            [{ _ in }, { $0.frameRate = FrameRate(2) }],
            limits: RecordingLimits(frames: 30))
        #expect(outcome.errors.count == 1 && small.sequences == [0, 5, 10, 15, 20, 25])
    }

    @Test("with --serve-on, the file of fewer frames ends with the other, and a live output goes on")
    func servedFrames() throws {
        let live = ScriptedSink()
        var slow = RenditionChoice()
        slow.frameRate = FrameRate(2)
        let recording = try Recording(
            from: Capturing(RecordingSource(ScriptedStream([.pictures(60)], isLive: false))),
            session: CompressionSession([provider(), provider(every: .milliseconds(500))]),
            to: [
                OutputPlan(OutputChoice(path: "a.h264", codec: nil), sink: full),
                OutputPlan(
                    OutputChoice(path: "b.h264", codec: nil, rendition: slow), rendition: 1, sink: small),
                OutputPlan(
                    OutputChoice(
                        listeningOn: try #require(ListeningAddress("9982")), codec: nil, rendition: slow),
                    rendition: 1, sink: live),
            ], limits: RecordingLimits(frames: 20, servesOn: true))
        #expect(recording.finish().errors.isEmpty)
        #expect(full.units.count == 20 && small.units.count == 4 && live.units.count == 12)
    }

    @Test("where all have rates of their own, each has its number of frames")
    func slowFrames() throws {
        _ = try record(
            100, [provider(every: .milliseconds(500)), provider(every: .seconds(1))],
            [{ $0.frameRate = FrameRate(2) }, { $0.frameRate = FrameRate(1) }],
            limits: RecordingLimits(frames: 4))
        #expect(full.units.count == 4 && small.units.count == 4)
    }

    @Test("a change of rate is for the outputs without rates of their own, or for the first")
    func rateChanges() throws {
        let own: (inout RenditionChoice) -> Void = { $0.size = PictureSize(2, 2) }
        let none: (inout RenditionChoice) -> Void = { _ in }
        for (properties, expected) in [
            ([none, own], [1, 0]), ([own, none], [0, 1]), ([own, own], [1, 0]),
        ] {
            let control = RecordingControl()
            control.changeBitRate(to: 1_000_000)
            let providers = [try provider(), try provider()]
            for provider in providers { provider.changesRateInPlace = true }
            _ = try record(5, providers, properties, control: control, limits: RecordingLimits())
            #expect(providers.map(\.rates.count) == expected)
        }
    }
}
