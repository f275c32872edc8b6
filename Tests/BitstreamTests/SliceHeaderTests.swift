import Testing

@testable import Bitstream

@Suite struct SliceHeaderTests {
    @Test func withoutSequenceParameterSetTheStartIsRead() throws {
        let header = try H264.SliceHeader(Sample.idr)
        #expect(header.first_mb_in_slice == 0)
        #expect(header.slice_type == 7 && header.kind == .i)
        #expect(header.pic_parameter_set_id == 0)
        #expect(header.picture == nil)
    }

    @Test func laterSlicesHaveTheirFirstMacroblock() throws {
        let starts = try Sample.idrSlices.map { try H264.SliceHeader($0).first_mb_in_slice }
        #expect(starts == [0, 4, 8])
    }

    @Test func frameNumberAndIDRIdentifier() throws {
        let sps = try H264.SequenceParameterSet(Sample.sps)
        let idr = try H264.SliceHeader(Sample.idr, sequenceParameterSet: sps)
        #expect(idr.picture?.frame_num == 0 && idr.picture?.idr_pic_id == 0)
        let p = try H264.SliceHeader(Sample.p, sequenceParameterSet: sps)
        #expect(p.kind == .p)
        #expect(p.picture?.frame_num == 1 && p.picture?.idr_pic_id == nil)
    }

    @Test func otherUnitsAndAnyBytesAreSafe() {
        #expect(throws: SyntaxError.self) { try H264.SliceHeader(Sample.sei) }
        #expect(throws: SyntaxError.self) { try H264.SliceHeader(([] as [UInt8])) }
        for count in 1..<3 {
            #expect(throws: SyntaxError.self) {
                try H264.SliceHeader(Array([0x65, 0, 0][..<count]))
            }
        }
    }
}
