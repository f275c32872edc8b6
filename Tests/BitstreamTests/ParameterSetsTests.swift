import Testing

@testable import Bitstream

@Suite struct ParameterSetsTests {
    @Test func extradataIsReadWhateverStandsBetween() throws {
        let extradata = annexB3([Sample.aud, Sample.sps, Sample.pps, Sample.sei])
        let sets = try ParameterSets(annexB: extradata)
        #expect(sets.sequence.map(\.nalUnit) == [Sample.sps])
        #expect(sets.picture.map(\.nalUnit) == [Sample.pps])
        #expect(sets.isComplete)
        #expect(sets.annexB == annexB([Sample.sps, Sample.pps]))
        #expect(sets.byteCount == sets.annexB.count)
    }

    @Test func aSetThatIsThereChangesNothing() throws {
        var sets = ParameterSets(codec: .h264)
        #expect(sets.isEmpty)
        #expect(try sets.insert(Sample.sps))
        let before = sets
        #expect(try !sets.insert(Sample.sps))
        #expect(sets == before)
    }

    @Test func aSetReplacesTheOneWithItsID() throws {
        var sets = try ParameterSets(annexB: annexB([Sample.sps, Sample.pps]))
        let before = sets
        #expect(try sets.insert(Sample.changedSPS))
        #expect(sets != before)
        #expect(sets.sequence.map(\.nalUnit) == [Sample.changedSPS])
        #expect(sets.hasSameIDs(as: before))
    }

    @Test func setsAreOrderedByID() throws {
        var sets = ParameterSets(codec: .h264)
        for id in [7, 0, 255, 3] { try sets.insert(pps(id, sequence: 0)) }
        #expect(sets.picture.map(\.id) == [0, 3, 7, 255])
    }

    @Test func completeMeansThatEveryReferenceResolves() throws {
        var sets = try ParameterSets(annexB: annexB([Sample.sps]))
        #expect(!sets.isComplete)
        try sets.insert(pps(0, sequence: 0))
        #expect(sets.isComplete)
        try sets.insert(pps(1, sequence: 5))
        #expect(!sets.isComplete)
    }

    @Test func setsThatReferToNoneAreLeftOut() throws {
        var sets = try ParameterSets(annexB: annexB([Sample.sps, Sample.pps]))
        let whole = sets
        #expect(sets.withoutOrphans == whole)
        try sets.insert(pps(5, sequence: 3))
        #expect(!sets.isComplete)
        #expect(sets.withoutOrphans == whole)
    }

    @Test func unreadableAndOversizedSetsAreRefused() {
        var sets = ParameterSets(codec: .h264)
        #expect(throws: SyntaxError.self) { try sets.insert([0x67, 66]) }
        #expect(throws: SyntaxError.self) { try sets.insert(Sample.idr) }
        let oversized = Sample.sps + [UInt8](repeating: 0xFF, count: ParameterSets.maximumByteCount)
        #expect(throws: SyntaxError.self) { try sets.insert(oversized) }
        #expect(sets.isEmpty)
    }
}

/// A picture parameter set with these ids and nothing of interest.
func pps(_ id: Int, sequence: Int) -> [UInt8] {
    var writer = BitWriter()
    for value in [id, sequence] { writer.ue(value) }
    writer.u(2, 0)
    for value in [0, 0, 0] { writer.ue(value) }
    writer.u(3, 0)
    for value in [0, 0, 0] { writer.se(value) }
    writer.u(3, 0)
    return writer.nalUnit(header: 0x68)
}
