import Encoder
import Bitstream
import CamSound
import TestSupport
import Testing
import CamPlatform

@testable import Capture
@testable import CamRecorder

/// Whatever a microphone does, it costs no picture.
@Suite(.hangGuard) struct SoundTrackTests {
    /// Delivers noise, and then does what a test wants.
    private final class ScriptedMicrophone: SoundSource {
        let name = "scripted"
        let format = SoundFormat(rate: 48_000, channels: 1)
        let overruns = 0
        private let end: () throws(SoundError) -> Void
        private var left: Int

        init(readings: Int, end: @escaping () throws(SoundError) -> Void) {
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
        to sink: ScriptedSink, report: @escaping @Sendable (SoundEvent) -> Void = { _ in },
        from open: @escaping @Sendable () throws(SoundError) -> any SoundSource
    ) throws -> RecordingOutcome {
        sink.takesSound = true
        let reader = try #require(MicrophoneReader(open: open))
        let plan = SoundPlan(
            try SoundEncoder(.aac, channels: 1), microphone: reader, name: "scripted", report: report)
        let stream = try ScriptedStream([.pictures(40)], isLive: false)
        return try Recording(
            from: Capturing(RecordingSource(stream)),
            session: try CompressionSession([
                ScriptedProvider([ScriptedEncoder()], keyframeInterval: .frames(5))
            ]),
            to: [OutputPlan(sink)], limits: RecordingLimits(), sound: plan
        ).finish()
    }

    @Test(
        "a microphone that hangs while it is opened or read does not hold up the end",
        arguments: [true, false])
    func hangs(opening: Bool) throws {
        let (hang, sink) = (Gate(), ScriptedSink())
        let outcome = try record(to: sink) { () throws(SoundError) in
            if opening { hang.wait() }
            return ScriptedMicrophone(readings: 0) { hang.wait() }
        }
        #expect(sink.units.count == 40 && sink.isFinished)
        #expect(outcome.hasHungThread)
        #expect(outcome.sound?.isHeard == false && outcome.sound?.error == nil)
        hang.open()
    }

    @Test("a microphone that is gone is reported once and becomes silence")
    func gone() throws {
        let (sink, events) = (ScriptedSink(), UncheckedTransfer<[SoundEvent]>([]))
        let outcome = try record(to: sink, report: { events.value.append($0) }) { () throws(SoundError) in
            ScriptedMicrophone(readings: 3) { () throws(SoundError) in throw SoundError(.gone, "scripted") }
        }
        #expect(sink.units.count == 40 && !outcome.hasHungThread)
        #expect(events.value == [.lost(SoundError(.gone, "scripted"))])
        #expect(outcome.sound?.outages == 1 && outcome.sound?.isHeard == true)
    }

    @Test("without a microphone there is silence, and it is said once")
    func absent() throws {
        let (sink, events) = (ScriptedSink(), UncheckedTransfer<[SoundEvent]>([]))
        let outcome = try record(to: sink, report: { events.value.append($0) }) { () throws(SoundError) in
            throw SoundError(.notFound, "scripted")
        }
        #expect(sink.units.count == 40 && sink.isFinished)
        #expect(events.value == [.lost(SoundError(.notFound, "scripted"))])
        #expect(outcome.sound?.isHeard == false && outcome.sound?.outages == 0)
    }

    @Test("when the encoder fails, sound ends, pictures continue without delay, and the sink is notified")
    func endsEarly() throws {
        let sink = ScriptedSink()
        sink.takesSound = true
        let output = RecordingOutput(OutputPlan(sink), measuresLatency: false)
        #expect(output.expectSound(try SoundEncoder(.aac, channels: 1).description))
        #expect(output.start { _ in })
        output.endSound()
        for number in 0..<40 { #expect(output.accept(accessUnit(number: number, isIDR: number == 0))) }
        output.close()
        output.join()
        #expect(sink.units.count == 40 && sink.isFinished && sink.hasSoundEnded)
    }

    @Test("pictures that wait for sound when their output fails are counted as lost")
    func failure() throws {
        let sink = ScriptedSink()
        sink.takesSound = true
        sink.failures = [1: .writeFailed(errno: 5)]
        let output = RecordingOutput(OutputPlan(sink), measuresLatency: false)
        #expect(output.expectSound(try SoundEncoder(.aac, channels: 1).description))
        for number in 0..<40 {
            let time = Instant.start + .milliseconds(10 * number)
            #expect(output.accept(accessUnit(number: number, isIDR: number == 0, timestamp: time)))
            if number == 20 {
                #expect(
                    output.accept(
                        try #require(SoundPacket(timestamp: .start, duration: .milliseconds(15)))))
            }
        }
        #expect(output.start { _ in })
        output.endSound()
        output.close()
        output.join()
        #expect(output.counters[.written] == 1 && output.counters[.lost] == 39)
    }

    @Test("during a pause nothing is recorded, and what was captured before it is, however late it comes")
    func pause() {
        let control = RecordingControl()
        let before = Instant.now
        #expect(control.records(before))
        control.pause()
        let within = Instant.now
        #expect(control.records(before) && !control.records(within))
        control.resume()
        #expect(control.records(before) && !control.records(within) && control.records(.now))
    }
}
