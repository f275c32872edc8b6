import Testing

@testable import Bitstream

extension StreamParameterSets {
    @discardableResult
    fileprivate mutating func insert(_ nalUnit: [UInt8]) throws(SyntaxError) -> Bool {
        try insert(nalUnit.span.bytes)
    }
}

@Suite struct StreamParameterSetsTests {
    @Test func setsOfH264ByTheirIDs() throws {
        var sets = StreamParameterSets(codec: .h264)
        #expect(try sets.insert(Sample.sps) && sets.insert(Sample.pps))
        #expect(try !sets.insert(Sample.idr) && !sets.insert(Sample.aud) && !sets.insert([]))
        let (sequence, picture) = sets.h264.inForce(pic_parameter_set_id: 0)
        #expect(sequence?.width == 64 && picture?.entropy_coding_mode_flag == false)
        #expect(sets.h264.inForce(pic_parameter_set_id: 1) == (nil, nil))
        try sets.insert(Sample.changedSPS)
        #expect(sets.h264.sequence.count == 1 && sets.h264.sequence[0]?.level_idc == 11)
        #expect(sets.h264.latestSequence == sets.h264.sequence[0])
    }

    @Test func setsOfH265ByTheirIDs() throws {
        var sets = StreamParameterSets(codec: .hevc)
        for set in [H265Sample.vps, H265Sample.sps, H265Sample.pps] { #expect(try sets.insert(set)) }
        #expect(try !sets.insert(hex("460110")) && !sets.insert([0x42]))
        #expect(sets.hevc.video[0]?.profile_tier_level.profileName == "Main")
        let (sequence, picture) = sets.hevc.inForce(slice_pic_parameter_set_id: 0)
        #expect(sequence?.width == 318 && picture?.weighted_pred_flag == true)
    }

    @Test func setsOfOtherLayersArePassedOver() throws {
        var sets = StreamParameterSets(codec: .hevc)
        #expect(try !sets.insert([0x42, 0x09] + H265Sample.sps.dropFirst(2)))
    }

    @Test func whatCannotBeReadChangesNothing() throws {
        var sets = StreamParameterSets(codec: .h264)
        try sets.insert(Sample.sps)
        let before = sets
        #expect(throws: SyntaxError.self) { try sets.insert(Array(Sample.sps.dropLast(6))) }
        let large = Sample.sps + [UInt8](repeating: 1, count: ParameterSets.maximumByteCount)
        #expect(throws: SyntaxError.self) { try sets.insert(large) }
        #expect(sets == before)
        #expect(try SyntaxStructure(large).error?.element == "nal_unit")
    }
}
