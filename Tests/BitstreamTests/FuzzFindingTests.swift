import Testing

@testable import Bitstream

/// Bugs that fuzzing found, so that they stay fixed.
@Suite struct FuzzFindingTests {
    /// `nuh_temporal_id_plus1` 0, which is forbidden: the header's zero does not require emulation
    /// prevention.
    @Test func aSetWithAZeroInItsHeaderIsReadAlikeByAllReaders() throws {
        let unit = hex(
            """
            4000 0003 0000 0000 0000 00ff 0090 0000 0300 0008 0038 0081 0328 010c 261d 0100 0000 0000 \
            00ff 0000 0000 001f 556e 7361 6665 4d75 09
            """)
        var sets = StreamParameterSets(codec: .hevc)
        let isTaken = (try? sets.insert(unit.span.bytes)) ?? false
        let structure = SyntaxStructure(nalUnit: unit.span.bytes, codec: .hevc, parameterSets: sets)
        #expect(isTaken == (structure.error == nil))
        #expect(isTaken)
        #expect(structure.elements.count > 4)
    }

    /// The words for a picture parameter set with a map of 100,000 slice group ids took minutes: the whole
    /// set was searched for each element.
    @Test func aSetOfManyElementsIsPutIntoWordsAtOnce() {
        var bits = BitWriter()
        for _ in 0..<2 { bits.ue(0) }  // pic_parameter_set_id, seq_parameter_set_id
        for _ in 0..<2 { bits.flag(false) }  // entropy_coding_mode_flag, order of bottom fields
        bits.ue(1)  // num_slice_groups_minus1
        bits.ue(6)  // slice_group_map_type
        bits.ue(99_999)  // pic_size_in_map_units_minus1
        for _ in 0..<100_000 { bits.flag(true) }
        let unit = bits.nalUnit(header: 0x68)
        let structure = SyntaxStructure(
            nalUnit: unit.span.bytes, codec: .h264, parameterSets: StreamParameterSets(codec: .h264))
        #expect(structure.elements.count > 100_000)
        let words = structure.elements.compactMap { $0.meaning(in: structure) }
        #expect(words.count < 10)
    }
}
