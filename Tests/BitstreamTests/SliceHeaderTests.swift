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

    /// The beginning of a slice header with a `frame_num` of 4 bits, and what follows.
    private func read(
        sps: [UInt8], pps: [UInt8], isIDR: Bool = false, _ write: (inout BitWriter) -> Void
    ) throws -> H264.SliceHeader.Picture {
        let sequence = try H264.SequenceParameterSet(sps)
        let picture = try H264.PictureParameterSet(pps, sequenceParameterSet: sequence)
        var writer = BitWriter()
        for value in [0, 0, 0] { writer.ue(value) }
        write(&writer)
        let nalUnit = writer.nalUnit(header: isIDR ? 0x65 : 0x41)
        let header = try H264.SliceHeader(
            nalUnit.span.bytes, sequenceParameterSet: sequence, pictureParameterSet: picture)
        return try #require(header.picture)
    }

    @Test func orderOfFieldsAndFrames() throws {
        let pps = hex("68fbacb3002c")
        let frame = try read(sps: Sample.interlacedSPS, pps: pps, isIDR: true) {
            $0.u(4, 3)
            $0.flag(false)
            $0.ue(65535)
            $0.u(6, 33)
            $0.se(-1)
        }
        #expect(frame.frame_num == 3 && frame.idr_pic_id == 65535)
        #expect(frame.pic_order_cnt_lsb == 33 && frame.delta_pic_order_cnt_bottom == -1)
        let field = try read(sps: Sample.interlacedSPS, pps: pps) {
            $0.u(4, 3)
            $0.u(2, 0b11)
            $0.u(6, 34)
        }
        #expect(field.field_pic_flag && field.bottom_field_flag && field.pic_order_cnt_lsb == 34)
        #expect(field.delta_pic_order_cnt_bottom == 0, "fields have none")
    }

    @Test func orderAsDifferencesToACycle() throws {
        var sps = BitWriter()
        for value in [66, 0, 30] { sps.u(8, value) }
        for value in [0, 0, 1] { sps.ue(value) }
        sps.flag(false)
        for value in [0, 0] { sps.se(value) }
        for value in [0, 1] { sps.ue(value) }
        sps.flag(false)
        for value in [9, 9] { sps.ue(value) }
        sps.u(4, 0b1100)
        var pps = BitWriter()
        for value in [0, 0] { pps.ue(value) }
        pps.u(2, 0b01)
        for value in [0, 0, 0] { pps.ue(value) }
        pps.u(3, 0)
        for value in [0, 0, 0] { pps.se(value) }
        pps.u(3, 0b001)
        let picture = try read(sps: sps.nalUnit(header: 0x67), pps: pps.nalUnit(header: 0x68)) {
            $0.u(4, 7)
            for value in [100, -100] { $0.se(value) }
            $0.ue(2)
        }
        #expect(picture.frame_num == 7 && picture.pic_order_cnt_lsb == nil)
        #expect(picture.delta_pic_order_cnt == [100, -100] && picture.redundant_pic_cnt == 2)
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
