import Output
import Sound
import Testing
import Threading
import Time

@testable import Capture
@testable import Recorder

/// Whatever a microphone does, it costs no picture.
@Suite(.timeLimit(.minutes(1))) struct SoundTrackTests {
    /// Delivers noise, and then does what a test wants.
    private final class ScriptedMicrophone: SoundSource, @unchecked Sendable {
        let name = "scripted"
        let format = SoundFormat(rate: 48_000, channels: 1)
        let overruns = 0
        private let end: @Sendable () throws(SoundError) -> Void
        private var left: Int

        init(readings: Int, end: @escaping @Sendable () throws(SoundError) -> Void) {
            (left, self.end) = (readings, end)
        }

        func read(
            into room: UnsafeMutableBufferPointer<Int16>, until deadline: Instant
        ) throws(SoundError) -> SoundReading? {
            guard left > 0 else {
                try end()
                return nil
            }
            left -= 1
            for index in 0..<960 { room[index] = Int16.random(in: -100...100) }
            return SoundReading(frames: 960, end: .now)
        }
    }

    private func record(
        _ microphone: ScriptedMicrophone?, to sink: ScriptedSink,
        report: @escaping @Sendable (SoundEvent) -> Void = { _ in }
    ) throws -> Recording {
        sink.takesSound = true
        let plan = SoundPlan(
            try SoundEncoder(.aac, channels: 1), microphone: microphone,
            open: { () throws(SoundError) in throw SoundError(.gone, "scripted") }, report: report)
        return try Recording(
            from: Capturing(RecordingSource(try ScriptedStream([.pictures(40)], isLive: false))),
            tracks: [try RecordingTrack(ScriptedProvider([ScriptedEncoder()], keyframeInterval: .frames(5)))],
            to: [OutputPlan(sink)], limits: RecordingLimits(), sound: plan)
    }

    @Test("a microphone whose driver hangs is given up, and the recording ends with all pictures")
    func hangs() throws {
        let (hang, sink) = (Gate(), ScriptedSink())
        let recording = try record(ScriptedMicrophone(readings: 0) { hang.wait() }, to: sink)
        let outcome = recording.finish()
        #expect(sink.units.count == 40 && sink.isFinished)
        #expect(outcome.sound?.error?.cause == .hung && outcome.leavesThread)
        hang.open()
    }

    @Test("a microphone that is gone is reported once and becomes silence")
    func gone() throws {
        let (sink, events) = (ScriptedSink(), Handover<[SoundEvent]>([]))
        let microphone = ScriptedMicrophone(readings: 3) { () throws(SoundError) in
            throw SoundError(.gone, "scripted")
        }
        let outcome = try record(microphone, to: sink) { events.value.append($0) }.finish()
        #expect(sink.units.count == 40 && !outcome.leavesThread)
        #expect(events.value == [.lost(SoundError(.gone, "scripted"))])
        #expect(outcome.sound?.outages == 1 && outcome.sound?.error == nil)
    }

    @Test("without a microphone there is silence from the beginning")
    func absent() throws {
        let sink = ScriptedSink()
        let outcome = try record(nil, to: sink).finish()
        #expect(sink.units.count == 40 && sink.isFinished)
        #expect(outcome.sound?.microphone == nil)
    }

    @Test("sound that ends early, because it cannot be coded, does not hold up the pictures")
    func endsEarly() throws {
        let sink = ScriptedSink()
        sink.takesSound = true
        let output = RecordingOutput(OutputPlan(sink), measuresLatency: false)
        let description = try SoundEncoder(.aac, channels: 1).description
        #expect(output.expectSound(description) {})
        #expect(output.start { _ in })
        output.endSound()
        for number in 0..<40 {
            #expect(output.accept(accessUnit(number: number, isIDR: number == 0)))
        }
        output.close()
        output.join()
        #expect(sink.units.count == 40 && sink.isFinished)
    }
}
