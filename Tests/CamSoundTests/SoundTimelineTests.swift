import Foundation
import TestSupport
import Testing
import CamPlatform

@testable import CamSound

/// Sound keeps the time of the pictures, whatever the sound card's clock does, and has no gaps.
@Suite struct SoundTimelineTests {
    private let start = Instant(nanoseconds: 5_000_000_000)

    /// A sound card, a timeline that it is connected to, and what is heard of it.
    private final class Room {
        let listening: SoundListening
        let timeline: SoundTimeline
        var card: SoundCard
        var random = SeededGenerator(seed: 4)

        init(_ card: SoundCard, start: Instant, codec: SoundCodec = .flac, channels: Int = 1) throws {
            let encoder = try SoundEncoder(codec, channels: channels)
            let listening = try SoundListening(encoder.description)
            (self.listening, self.card) = (listening, card)
            timeline = SoundTimeline(encoder, start: start) { listening.hear($0) }
            try timeline.connect(card.format)
        }

        func record(for duration: Duration, frames: Int = 960) throws {
            let last = card.end + duration
            while card.end < last {
                let (reading, samples) = card.read(frames, using: &random)
                try samples.withUnsafeBufferPointer { try timeline.take(reading, $0) }
            }
        }
    }

    /// A tone of a tenth of a second at the beginning of every whole second.
    private static func beeps(_ seconds: Double) -> Double {
        let rest = seconds - seconds.rounded(.down)
        return rest < 0.1 ? 0.7 * sin(2 * .pi * 1000 * rest) : 0
    }

    private static func tone(_ seconds: Double) -> Double { 0.7 * sin(2 * .pi * 440 * seconds) }

    @Test(
        "a clock that is fast or slow by 200 millionths is followed: after ten minutes sound is on time to a millisecond",
        arguments: [0.0, 200, -200])
    func drift(millionths: Double) throws {
        let format = SoundFormat(rate: 48_000, channels: 1)
        let room = try Room(
            SoundCard(
                format, rate: 48_000 * (1 + millionths / 1e6), start: start, jitter: .milliseconds(2),
                sound: Self.beeps), start: start)
        try room.record(for: .seconds(600))
        for second in [30, 300, 598] {
            let onset = try #require(
                room.listening.onset(after: start + .seconds(second) - .milliseconds(200)))
            // Times are late by a millisecond on average.
            let error = (onset - (start + .seconds(second) + .milliseconds(1))).inSeconds
            #expect(abs(error) < 0.001, "\(error) s after \(second) s")
        }
        #expect(abs(try #require(room.timeline.statistics.drift) - millionths) < 20)
        #expect(room.timeline.statistics.silence < .milliseconds(5))
    }

    @Test("a drift is followed without a jump: what was a sine stays one", arguments: [200.0, -200])
    func smoothness(millionths: Double) throws {
        let format = SoundFormat(rate: 48_000, channels: 1)
        let room = try Room(
            SoundCard(
                format, rate: 48_000 * (1 + millionths / 1e6), start: start, jitter: .milliseconds(2),
                sound: Self.tone
            ), start: start)
        try room.record(for: .seconds(30))
        let samples = room.listening.samples
        // Of a sine: x(n + 1) + x(n − 1) = 2 cos(ω) x(n). A sample left out or doubled is off by 0.04.
        let factor = Float(2 * cos(2 * Double.pi * 440 / 48_000))
        let largest = (4801..<samples.count - 1).map { index in
            let expected = factor * samples[index]
            return abs(samples[index + 1] + samples[index - 1] - expected)
        }
        .max()
        #expect(try #require(largest) < 0.003)
    }

    @Test("samples that were lost become silence of the same length, and what follows is on time")
    func overrun() throws {
        let format = SoundFormat(rate: 48_000, channels: 2)
        let room = try Room(
            SoundCard(format, rate: 48_000, start: start, sound: Self.beeps), start: start, channels: 2)
        try room.record(for: .seconds(3))
        room.card.lose(48_000 * 7 / 10)
        try room.record(for: .seconds(3))
        let onset = try #require(room.listening.onset(after: start + .milliseconds(4_500)))
        #expect((onset - (start + .seconds(5))).magnitude < .milliseconds(1))
        #expect((room.timeline.statistics.silence - .milliseconds(700)).magnitude < .milliseconds(2))
    }

    @Test("where a microphone is away, there is silence, and nothing is doubled when it is back")
    func outage() throws {
        let format = SoundFormat(rate: 48_000, channels: 1)
        let room = try Room(SoundCard(format, rate: 48_000, start: start, sound: Self.beeps), start: start)
        try room.record(for: .seconds(2))
        try room.timeline.disconnect()
        try room.timeline.fillSilence(until: start + .milliseconds(4_250))
        #expect((room.timeline.end - (start + .milliseconds(4_250))).magnitude < .milliseconds(1))
        // It has begun to record before the silence ended, at another rate.
        let other = SoundFormat(rate: 16_000, channels: 1)
        room.card = SoundCard(other, rate: 16_000, start: start + .seconds(4), sound: Self.beeps)
        try room.timeline.connect(other)
        try room.record(for: .seconds(3), frames: 320)
        let onset = try #require(room.listening.onset(after: start + .milliseconds(4_300)))
        #expect((onset - (start + .seconds(5))).magnitude < .milliseconds(1))
    }

    @Test(
        "a microphone that lies about its rate is heard at the right pitch and time",
        arguments: [44_100.0, 47_000, 49_500, 8_000, 96_000])
    func falseRate(rate: Double) throws {
        let format = SoundFormat(rate: 48_000, channels: 1)
        let room = try Room(
            SoundCard(format, rate: rate, start: start, jitter: .milliseconds(1), sound: Self.beeps),
            start: start)
        try room.record(for: .seconds(30), frames: Int(rate / 50))
        let found = try #require(room.timeline.falseRate)
        #expect(abs(Double(found) / rate - 1) < 0.002, "\(found)")
        for second in [10, 20, 28] {
            let onset = try #require(
                room.listening.onset(after: start + .seconds(second) - .milliseconds(200)))
            #expect((onset - (start + .seconds(second))).magnitude < .milliseconds(20), "\(second)")
        }
    }

    @Test("times that jitter by tens of milliseconds, and overruns, are no false rate", arguments: 0..<20)
    func jitter(seed: Int) throws {
        let format = SoundFormat(rate: 48_000, channels: 1)
        let room = try Room(
            SoundCard(format, rate: 48_005, start: start, jitter: .milliseconds(15), sound: Self.beeps),
            start: start)
        room.random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<5 {
            try room.record(for: .milliseconds(Int.random(in: 900...3_000, using: &room.random)))
            room.card.lose(Int.random(in: 4_800...24_000, using: &room.random))
        }
        try room.record(for: .seconds(10))
        #expect(room.timeline.falseRate == nil)
    }

    @Test("after a process that stood still for hours, the rest of the silence is a jump in time")
    func standstill() throws {
        let format = SoundFormat(rate: 48_000, channels: 1)
        let room = try Room(SoundCard(format, rate: 48_000, start: start, sound: Self.beeps), start: start)
        try room.record(for: .seconds(2))
        room.card.lose(48_000 * 3600 * 5)
        try room.record(for: .seconds(3))
        #expect(room.listening.packets.count < 400)
        #expect((room.timeline.statistics.silence - .seconds(18_000)).magnitude < .milliseconds(5))
        let last = try #require(room.listening.packets.last)
        #expect((last.end - room.card.end).magnitude < .milliseconds(100))
    }

    @Test("packets follow each other without a gap", arguments: SoundCodec.allCases)
    func continuity(codec: SoundCodec) throws {
        let format = SoundFormat(rate: 44_100, channels: 1)
        let room = try Room(
            SoundCard(format, rate: 44_101, start: start, jitter: .milliseconds(1), sound: Self.tone),
            start: start,
            codec: codec)
        try room.record(for: .seconds(2), frames: 441)
        try room.timeline.fillSilence(until: room.timeline.end + .seconds(1))
        let packets = room.listening.packets
        #expect(packets.count > 20)
        for (packet, next) in zip(packets, packets.dropFirst()) {
            #expect((next.timestamp - packet.end).magnitude <= .nanoseconds(1))
        }
    }
}
