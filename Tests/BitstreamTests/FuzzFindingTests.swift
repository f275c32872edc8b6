import Testing

@testable import Bitstream

/// What fuzzing found, so that it stays mended.
@Suite struct FuzzFindingTests {
    /// `nuh_temporal_id_plus1` 0, which is forbidden: the header's zero is none that calls for emulation
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
        #expect(structure.elements.count > 4)
    }
}
