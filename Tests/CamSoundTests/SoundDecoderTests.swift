import Glibc
import Testing
import CamPlatform

@testable import CamSound

/// Sound that is coded and decoded again.
@Suite struct SoundDecoderTests {
    /// Codes a second of a sine of 1 kHz in both channels.
    private func tone(_ codec: SoundCodec) throws -> (SoundDescription, [SoundPacket]) {
        let encoder = try SoundEncoder(codec, channels: 2)
        var (packets, position) = ([SoundPacket](), 0)
        while encoder.count < 2 * SoundCodec.rate {
            _ = try encoder.fill(
                start: .start,
                { planes, room in
                    for frame in 0..<room {
                        let sample = sin(Double(position + frame) * 2 * .pi * 1000 / 48_000) / 2
                        for channel in 0..<2 { Self.store(sample, frame, channel, codec, &planes) }
                    }
                    position += room
                    return room
                }, { packets.append($0) })
        }
        return (encoder.description, packets)
    }

    private static func store(
        _ sample: Double, _ frame: Int, _ channel: Int, _ codec: SoundCodec,
        _ planes: inout SoundEncoder.Planes
    ) {
        switch codec {
        case .aac:
            planes[channel]?.withMemoryRebound(to: Float.self, capacity: frame + 1) {
                $0[frame] = Float(sample)
            }
        case .opus:
            planes[0]?.withMemoryRebound(to: Float.self, capacity: 2 * frame + 2) {
                $0[2 * frame + channel] = Float(sample)
            }
        case .flac:
            planes[0]?.withMemoryRebound(to: Int16.self, capacity: 2 * frame + 2) {
                $0[2 * frame + channel] = Int16(sample * 32_767)
            }
        }
    }

    /// Decodes everything; samples of the left channel.
    private func decode(_ packets: [SoundPacket], _ decoder: SoundDecoder) throws -> [Int16] {
        var samples: [Int16] = []
        for packet in packets {
            try decoder.decode(packet) { piece in
                samples += stride(from: 0, to: piece.count, by: decoder.output.channels).map { piece[$0] }
            }
        }
        return samples
    }

    /// How many periods of a wave there are in a part in the middle.
    private func periods(_ samples: [Int16]) -> Int {
        let part = samples[(samples.count / 4)..<(samples.count * 3 / 4)]
        return zip(part, part.dropFirst()).count { $0 < 0 && $1 >= 0 }
    }

    @Test("what was coded is heard, in the loudspeaker's rate and channels", arguments: SoundCodec.allCases)
    func tones(codec: SoundCodec) throws {
        let (description, packets) = try tone(codec)
        for output in [
            SoundFormat(rate: 48_000, channels: 2), SoundFormat(rate: 44_100, channels: 2),
            SoundFormat(rate: 48_000, channels: 1),
        ] {
            let samples = try decode(packets, SoundDecoder(description, output: output))
            let seconds = Double(samples.count) / Double(output.rate)
            #expect(abs(seconds - 2) < 0.07)
            let expected = Double(samples.count / 2) / Double(output.rate) * 1000
            #expect(abs(Double(periods(samples)) - expected) <= 2)
            let peak = samples[(samples.count / 4)..<(samples.count / 2)].max() ?? 0
            #expect((14_000...18_500).contains(peak), "half of full scale")
        }
    }

    @Test("stretched sound is longer, and its pitch is hardly lower")
    func stretches() throws {
        let (description, packets) = try tone(.flac)
        let format = SoundFormat(rate: 48_000, channels: 2)
        let plain = try decode(packets, SoundDecoder(description, output: format))
        let decoder = try SoundDecoder(description, output: format)
        var stretched = try decode(Array(packets[..<1]), decoder)
        decoder.stretch(by: .milliseconds(2))
        stretched += try decode(Array(packets[1...]), decoder)
        // By 96 frames a second.
        #expect((150...220).contains(stretched.count - plain.count))
    }

    @Test("damaged packets are passed over", arguments: SoundCodec.allCases)
    func damage(codec: SoundCodec) throws {
        let (description, packets) = try tone(codec)
        let decoder = try SoundDecoder(description, output: SoundFormat(rate: 48_000, channels: 2))
        var generator = SystemRandomNumberGenerator()
        for packet in packets {
            var bytes = packet.withUnsafeBytes { Array($0) }
            for _ in 0..<10 {
                bytes[.random(in: 0..<bytes.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            if Bool.random(using: &generator) { bytes.removeLast(bytes.count / 2) }
            let damaged = try #require(
                SoundPacket(bytes, timestamp: packet.timestamp, duration: packet.duration))
            try decoder.decode(damaged) { _ in }
        }
        #expect(try decode(packets, decoder).count > 40_000)
    }

    @Test("a description that no decoder takes is refused in one line")
    func refuses() {
        let description = SoundDescription(
            codec: .opus, format: SoundFormat(rate: 48_000, channels: 2),
            configuration: Array("OpusHead".utf8), packetFrames: 960)
        #expect {
            try SoundDecoder(description, output: SoundFormat(rate: 48_000, channels: 2))
        } throws: { "\($0)".hasPrefix("Opus: the decoder failed: ") && !"\($0)".contains("\n") }
    }
}
