import Bitstream
import CamPictures
import Testing

@testable import Capture
@testable import Encoder

/// Correcting parameter sets of drivers that write their own.
@Suite struct ParameterSetAmenderTests {
    /// Sets as a driver might write them: Constrained Baseline, 64x48, without any VUI.
    private func setsWithoutVUI() throws -> ParameterSets {
        var sequence = BitWriter()
        for byte in [66, 0x40, 30] { sequence.u(8, byte) }
        for value in [0, 0, 2, 1] { sequence.ue(value) }
        sequence.u(1, 0)
        sequence.ue(3)
        sequence.ue(2)
        // Frames only, direct 8x8 inference, no cropping, no VUI.
        for bit in [1, 1, 0, 0] { sequence.u(1, bit) }
        var picture = BitWriter()
        for value in [0, 0] { picture.ue(value) }
        picture.u(2, 0)
        for value in [0, 0, 0] { picture.ue(value) }
        picture.u(3, 0)
        for value in [0, 0, 0] { picture.ue(value) }
        picture.u(3, 0b100)
        let bytes = [0, 0, 0, 1, 0x67] + sequence.trailed + [0, 0, 0, 1, 0x68] + picture.trailed
        return try ParameterSets(annexB: bytes.span.bytes, codec: .h264)
    }

    private func sequenceSet(_ sets: ParameterSets) throws -> H264.SequenceParameterSet {
        let nalUnit = try #require(sets.sequence.first).nalUnit
        return try H264.SequenceParameterSet(nalUnit.span.bytes)
    }

    /// The VUI's full range, matrix, primaries and transfer.
    private func colour(of sets: ParameterSets) throws -> [Int] {
        let nalUnit = try #require(sets.sequence.first).nalUnit
        switch sets.codec {
        case .h264:
            let vui = try #require(try H264.SequenceParameterSet(nalUnit.span.bytes).vui_parameters)
            return [
                vui.video_full_range_flag ? 1 : 0, vui.matrix_coefficients, vui.colour_primaries,
                vui.transfer_characteristics,
            ]
        case .hevc:
            let vui = try #require(try H265.SequenceParameterSet(nalUnit.span.bytes).vui_parameters)
            return [
                vui.video_full_range_flag ? 1 : 0, vui.matrix_coeffs, vui.colour_primaries,
                vui.transfer_characteristics,
            ]
        }
    }

    private func amender(
        _ color: ColorEncoding, _ rate: String, size: PictureSize? = PictureSize(64, 48)
    ) throws -> ParameterSetAmender {
        ParameterSetAmender(
            size: try #require(size), color: color, frameRate: try #require(FrameRate(rate)))
    }

    private let color = ColorEncoding(range: .full, matrix: .bt601, primaries: 1, transfer: 13)

    @Test("sets without a VUI get one: range, matrix, primaries, transfer and rate")
    func amends() throws {
        let original = try setsWithoutVUI()
        #expect(try sequenceSet(original).vui_parameters == nil)
        let amender = try amender(color, "29.97")
        let amended = try amender.amend(original)
        let set = try sequenceSet(amended)
        let vui = try #require(set.vui_parameters)
        #expect(vui.video_full_range_flag)
        #expect([vui.matrix_coefficients, vui.colour_primaries, vui.transfer_characteristics] == [6, 1, 13])
        #expect(set.frameRate?.numerator == 30000)
        #expect(set.frameRate?.denominator == 1001)
        #expect(set.width == 64)
        #expect(set.height == 48)
        #expect(set.profile_idc == 66)
        #expect(amended.picture == original.picture)
    }

    @Test("a VUI without chroma siting and pixel aspect gets both, and then stays unchanged")
    func shape() throws {
        var amender = try amender(color, "25")
        let once = try amender.amend(setsWithoutVUI())
        (amender.chromaSiting, amender.pixelAspect) = (.center, PixelAspect(10, 11))
        let amended = try amender.amend(once)
        let vui = try #require(try sequenceSet(amended).vui_parameters)
        #expect(vui.chroma_sample_loc_type_top_field == 1)
        #expect(vui.aspect_ratio_idc == 3)
        #expect(try amender.amend(amended) == amended)
    }

    @Test(
        "corrects a VUI with a single wrong statement",
        arguments: [
            ColorEncoding(range: .limited, matrix: .bt601, primaries: 1, transfer: 13),
            ColorEncoding(range: .full, matrix: .bt709, primaries: 1, transfer: 13),
            ColorEncoding(range: .full, matrix: .bt601, primaries: 6, transfer: 13),
            ColorEncoding(range: .full, matrix: .bt601, primaries: 1, transfer: 6),
        ], [Codec.h264, .hevc])
    func oneStatement(other: ColorEncoding, codec: Codec) throws {
        let film = try Film(color: color)
        let unit = try #require(try film.encode(1, with: film.software { $0.codec = codec }).first)
        let sets = try unit.withUnsafeBytes { try ParameterSets(annexB: $0.bytes, codec: codec) }
        let amender = try amender(other, "25", size: film.format.size)
        let amended = try amender.amend(sets)
        #expect(
            try colour(of: amended) == [
                other.range == .full ? 1 : 0, other.matrix == .bt709 ? 1 : 6, Int(other.primaries),
                Int(other.transfer),
            ])
    }

    @Test("leaves correct sets unchanged, byte for byte")
    func leavesAlone() throws {
        let amender = try amender(color, "25")
        let once = try amender.amend(setsWithoutVUI())
        #expect(try amender.amend(once) == once)
        let film = try Film(color: color)
        let amenderOfFilm = try self.amender(color, "25", size: film.format.size)
        let unit = try #require(try film.encode(1, with: film.software()).first)
        let sets = try unit.withUnsafeBytes { try ParameterSets(annexB: $0.bytes, codec: .h264) }
        #expect(try amenderOfFilm.amend(sets) == sets)
    }

    @Test("amends H.265's sets likewise: size, range, matrix and rate")
    func amendsH265() throws {
        let film = try Film(color: color)
        let unit = try #require(try film.encode(1, with: film.software { $0.codec = .hevc }).first)
        let sets = try unit.withUnsafeBytes { try ParameterSets(annexB: $0.bytes, codec: .hevc) }
        let (width, height) = (film.format.size.width, film.format.size.height)
        #expect(try amender(color, "25", size: film.format.size).amend(sets) == sets, "x265's are right")
        let other = ColorEncoding(range: .limited, matrix: .bt709)
        let size = try #require(PictureSize(width - 2, height - 4))
        let amended = try amender(other, "50", size: size).amend(sets)
        let nalUnit = try #require(amended.sequence.first).nalUnit
        let set = try H265.SequenceParameterSet(nalUnit.span.bytes)
        #expect([set.width, set.height] == [width - 2, height - 4])
        #expect(set.frameRate?.framesPerSecond == 50)
        #expect(!set.isFullRange)
        #expect(set.vui_parameters?.matrix_coeffs == 1)
        #expect(amended.picture == sets.picture)
    }

    @Test("another range, matrix or rate replaces what the sets say")
    func replaces() throws {
        let first = try amender(color, "25").amend(
            setsWithoutVUI())
        let other = ColorEncoding(range: .limited, matrix: .bt709)
        let second = try amender(other, "50").amend(
            first)
        let set = try sequenceSet(second)
        #expect(!set.isFullRange)
        #expect(set.vui_parameters?.matrix_coefficients == 1)
        #expect(set.frameRate?.framesPerSecond == 50)
    }

    @Test("invalid sets are an error, not a crash")
    func hostile() throws {
        let amender = try amender(color, "25")
        var sets = ParameterSets(codec: .h264)
        // Only an id.
        let truncated: [UInt8] = [0x67, 66, 0x40, 30, 0x80]
        try sets.insert(truncated.span.bytes)
        #expect(throws: (any Error).self) { try amender.amend(sets) }
    }
}

/// Writes syntax elements bit by bit.
private struct BitWriter {
    private var bits: [Int] = []

    mutating func u(_ count: Int, _ value: Int) {
        for bit in (0..<count).reversed() { bits.append(value >> bit & 1) }
    }

    mutating func ue(_ value: Int) {
        let length = Int.bitWidth - (value + 1).leadingZeroBitCount
        u(length - 1, 0)
        u(length, value + 1)
    }

    /// The bytes with the trailing bits after them.
    var trailed: [UInt8] {
        var all = bits + [1]
        while all.count % 8 != 0 { all.append(0) }
        return stride(from: 0, to: all.count, by: 8).map { start in
            all[start..<start + 8].reduce(0) { $0 << 1 | UInt8($1) }
        }
    }
}
