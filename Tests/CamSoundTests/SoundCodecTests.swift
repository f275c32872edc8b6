import Testing

@testable import CamSound

/// What packets say of themselves.
@Suite struct SoundCodecTests {
    private func frames(_ codec: SoundCodec, _ bytes: [UInt8], configuration: [UInt8] = []) -> Int? {
        codec.frameCount(of: bytes.span.bytes, configuration: configuration)
    }

    @Test("an Opus packet's first bytes say how long it is (RFC 6716, 3.1)")
    func opus() {
        // SILK of 10 and 60 ms, hybrid of 20 ms, CELT of 2.5 and 20 ms.
        for (configuration, count) in [(0, 480), (3, 2880), (13, 960), (16, 120), (31, 960)] as [(UInt8, Int)]
        {
            #expect(frames(.opus, [configuration << 3]) == count)
            #expect(frames(.opus, [configuration << 3 | 1]) == 2 * count)
            #expect(frames(.opus, [configuration << 3 | 3, 0xC3]) == 3 * count)
        }
        #expect(frames(.opus, []) == nil)
        #expect(frames(.opus, [3]) == nil)
    }

    @Test("FLAC's blocks have the size that its configuration states, if that is one (RFC 9639, 8.2)")
    func flac() {
        #expect(frames(.flac, [1], configuration: [0x08, 0, 0x08, 0, 9]) == 2048)
        #expect(frames(.flac, [1], configuration: [0x08, 0, 0x10, 0, 9]) == nil)
        #expect(frames(.flac, [1], configuration: [0x08, 0]) == nil)
    }

    @Test("AAC's configuration says how long its packets are, if it is plain")
    func aac() {
        #expect(frames(.aac, [1], configuration: [0x11, 0x90]) == 1024)
        #expect(frames(.aac, [1], configuration: [0x11, 0x94]) == 960)
        // With spectral band replication, with a rate of its own, and none at all.
        for configuration in [[0x2B, 0x09], [0x17, 0x90], [0x11], []] as [[UInt8]] {
            #expect(frames(.aac, [1], configuration: configuration) == nil)
        }
    }

    private func header(_ bytes: [UInt8]) -> ADTSHeader? { bytes.withUnsafeBytes { ADTSHeader($0) } }

    @Test("an ADTS header has what a decoder needs, and is taken off")
    func adts() throws {
        // AAC LC, 48 kHz, stereo, without and with a checksum.
        let plain = try #require(header([0xFF, 0xF1, 0x4C, 0x80, 0x01, 0x1F, 0xFC, 0x21]))
        #expect(plain.format == SoundFormat(rate: 48_000, channels: 2))
        #expect(plain.configuration == [0x11, 0x90] && plain.byteCount == 7)
        #expect(header([0xFF, 0xF0, 0x4C, 0x80, 0x01, 0x1F, 0xFC, 0, 0, 0x21])?.byteCount == 9)
        // 44.1 kHz, mono; 7.1 has the number 7.
        let mono = try #require(header([0xFF, 0xF1, 0x50, 0x40, 0x01, 0x1F, 0xFC, 0x21]))
        #expect(mono.format == SoundFormat(rate: 44_100, channels: 1) && mono.configuration == [0x12, 0x08])
        #expect(header([0xFF, 0xF1, 0x4D, 0xC0, 0x01, 0x1F, 0xFC, 0x21])?.format.channels == 8)
    }

    @Test("what is no ADTS header, or has a rate or channels that cannot be, is refused")
    func noHeader() {
        for bytes: [UInt8] in [
            [], [0xFF, 0xF1], [0xFF, 0xF1, 0x4C, 0x80, 0x01, 0x1F, 0xFC],
            [0xFE, 0xF1, 0x4C, 0x80, 1, 2, 3, 4],
            [0xFF, 0xF7, 0x4C, 0x80, 1, 2, 3, 4], [0xFF, 0xF1, 0x74, 0x80, 1, 2, 3, 4],
            [0xFF, 0xF1, 0x4C, 0x00, 1, 2, 3, 4], [0xFF, 0xF0, 0x4C, 0x80, 1, 2, 3, 4, 5],
        ] { #expect(header(bytes) == nil, "\(bytes)") }
    }
}
