import Bitstream
import Testing

@testable import CamWeb

@Suite("codec strings")
struct CodecStringTests {
    @Test("H.264: profile, constraints and level")
    func h264() {
        let set: [UInt8] = [0x67, 0x64, 0x00, 0x1F, 0xAC]
        #expect(CodecString(sequenceParameterSet: set.span.bytes, codec: .h264)?.description == "avc1.64001F")
        let constrained: [UInt8] = [0x67, 0x42, 0xC0, 0x0A, 0xDA]
        #expect(
            CodecString(sequenceParameterSet: constrained.span.bytes, codec: .h264)?.description
                == "avc1.42C00A")
    }

    /// A sequence parameter set's header, ids, and profile, tier and level.
    private func hevc(_ profileTierLevel: [UInt8]) -> String? {
        let nalUnit = EmulationPrevention.escape(([0x42, 0x01, 0x01] + profileTierLevel).span.bytes)
        return CodecString(sequenceParameterSet: nalUnit.span.bytes, codec: .hevc)?.description
    }

    @Test("H.265: the examples of ISO/IEC 14496-15, and of streams")
    func hevc() {
        // Main, main tier, level 3.1, progressive frames.
        #expect(hevc([0x01, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 93]) == "hev1.1.6.L93.90")
        // Main 10, high tier, level 5.1, progressive, non-packed.
        #expect(hevc([0x22, 0x20, 0, 0, 0, 0xB0, 0, 0, 0, 0, 0, 153]) == "hev1.2.4.H153.B0")
        // A profile space, a range extension, and constraints with zeros between them.
        #expect(hevc([0x44, 0x08, 0, 0, 0x80, 0x9D, 0, 0x08, 0, 0, 0, 120]) == "hev1.A4.1000010.L120.9D.0.8")
        #expect(hevc([0x01, 0x60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 30]) == "hev1.1.6.L30")
    }

    @Test(
        "of an encoder's stream, with the picture's size",
        arguments: [(Codec.h264, "avc1."), (.hevc, "hev1.1.6.L")])
    func encoded(codec: Codec, beginning: String) throws {
        let stream = try EncodedStream(codec, frames: 1)
        let pictures = LivePictures(codec: codec)
        var facts: StreamFacts?
        pictures.add(stream.bytes.span.bytes, arrival: .start) { _ in }
        pictures.finish(arrival: .start) { facts = StreamFacts($0) }
        #expect(facts?.codec.description.hasPrefix(beginning) == true)
        #expect(facts?.width == 64)
        #expect(facts?.height == 48)
    }

    @Test("a unit that is too short has none", arguments: Codec.allCases)
    func short(codec: Codec) {
        for count in 0..<(codec == .h264 ? 4 : 15) {
            let unit = [UInt8](repeating: 0x42, count: count)
            #expect(CodecString(sequenceParameterSet: unit.span.bytes, codec: codec) == nil)
        }
    }
}
