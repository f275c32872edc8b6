import TestSupport
import Testing

@testable import Bitstream

@Suite struct StreamKindTests {
    private func kind(
        _ bytes: [UInt8], isWhole: Bool = true, codec: Codec? = nil, framing: NALUnitSource.Framing? = nil
    ) -> StreamKind? {
        StreamKind(head: bytes.span.bytes, isWhole: isWhole, codec: codec, framing: framing)
    }

    private let h264 = [Sample.sps, Sample.pps, Sample.idr, Sample.p]
    /// The first units that x265 writes, and a slice of an IDR picture.
    private let hevc = [
        hex("4001 0c01ffff01600000030090000003000003001e959809"),
        hex("4201 0101600000030090000003000003001ea00a0803165965921c4f16a020202080"),
        hex("4401 c172b46240"), hex("2801 af1d8042"),
    ]

    private func lengthPrefixed(_ units: [[UInt8]]) -> [UInt8] {
        units.flatMap { [0, 0, UInt8($0.count >> 8), UInt8($0.count & 255)] + $0 }
    }

    @Test func theCodecIsTheOneWhoseParameterSetsCanBeRead() {
        #expect(kind(annexB(h264)) == .stream(.h264, .annexB))
        #expect(kind(annexB3(h264)) == .stream(.h264, .annexB))
        #expect(kind(annexB(hevc)) == .stream(.hevc, .annexB))
        #expect(kind([0, 0, 0] + annexB(h264)) == .stream(.h264, .annexB))
    }

    @Test func lengthsAreTold() {
        #expect(kind(lengthPrefixed(h264)) == .stream(.h264, .lengthPrefixed(.four)))
        #expect(kind(lengthPrefixed(hevc)) == .stream(.hevc, .lengthPrefixed(.four)))
        #expect(kind(Array(lengthPrefixed(h264).dropLast(3))) == .stream(.h264, .lengthPrefixed(.four)))
        // The length of a first unit of 256 bytes or more looks like a start code of 3 bytes.
        let long = [Sample.sei.dropLast() + [UInt8](repeating: 0x41, count: 300) + [0x80]] + h264
        #expect(kind(lengthPrefixed(long)) == .stream(.h264, .lengthPrefixed(.four)))
    }

    @Test func withoutParameterSetsTheUnitTypesDecide() {
        #expect(kind(annexB([Sample.p, Sample.p])) == .stream(.h264, .annexB))
        #expect(kind(annexB([hex("0201 d0"), hex("0201 d0")])) == .stream(.hevc, .annexB))
    }

    @Test func aBeginningThatTellsNothingWaitsForMore() {
        #expect(kind([], isWhole: false) == nil)
        #expect(kind([0, 0, 0, 1], isWhole: false) == nil)
        #expect(kind(Array(annexB(h264).prefix(12)), isWhole: false) == nil)
        #expect(kind(annexB(h264), isWhole: false) == .stream(.h264, .annexB))
    }

    @Test func whatIsKnownIsNotGuessed() {
        #expect(kind(annexB(h264), codec: .hevc) == .stream(.hevc, .annexB))
        let short = h264.flatMap { [UInt8($0.count)] + $0 }
        #expect(
            kind(short, framing: .lengthPrefixed(.one)) == .stream(.h264, .lengthPrefixed(.one)))
    }

    @Test func otherFilesAreNamed() {
        #expect(kind([]) == .empty)
        #expect(kind(Array("hello, world\n".utf8)) == .unknown)
        #expect(kind([0, 0, 0, 0x18] + Array("ftypisom".utf8)) == .container(.mp4))
        #expect(kind([0x1A, 0x45, 0xDF, 0xA3, 1]) == .container(.matroska))
        #expect(kind((0..<600).map { $0 % 188 == 0 ? 0x47 : 1 }) == .container(.transportStream))
        #expect(kind((0..<600).map { $0 % 192 == 4 ? 0x47 : 1 }) == .container(.transportStream))
        #expect(kind((0..<700).map { $0 % 204 == 0 ? 0x47 : 1 }) == .container(.transportStream))
    }

    @Test func anyBytesAreSafe() {
        var generator = SeededGenerator(seed: 3)
        for count in 0..<400 {
            let bytes = generator.bytes(count)
            #expect(kind(bytes) != nil)
            _ = kind([0, 0, 1] + bytes, isWhole: false)
            _ = kind([0, 0, 0, UInt8(count & 255)] + bytes, isWhole: false)
        }
    }
}
