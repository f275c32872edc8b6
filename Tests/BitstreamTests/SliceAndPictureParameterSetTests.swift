import Testing

@testable import Bitstream

/// Values are those that libavcodec's `trace_headers` gives for the same bytes.
@Suite struct PictureParameterSetTests {
    @Test func baseline() throws {
        let pps = try H264.PictureParameterSet(Sample.pps)
        #expect(pps.pic_parameter_set_id == 0 && pps.seq_parameter_set_id == 0)
        #expect(!pps.entropy_coding_mode_flag)
        #expect(!pps.bottom_field_pic_order_in_frame_present_flag)
        #expect(pps.num_slice_groups_minus1 == 0)
        let coding = try #require(pps.coding)
        #expect(coding.pic_init_qp_minus26 == -3)
        #expect(coding.deblocking_filter_control_present_flag)
        #expect(!coding.redundant_pic_cnt_present_flag)
    }

    @Test func interlacedHigh() throws {
        let pps = try H264.PictureParameterSet(hex("68fbacb3002c"))
        #expect(pps.entropy_coding_mode_flag)
        #expect(pps.bottom_field_pic_order_in_frame_present_flag)
        let coding = try #require(pps.coding)
        #expect(coding.num_ref_idx_l0_default_active_minus1 == 2)
        #expect(coding.weighted_bipred_idc == 2)
        #expect(coding.chroma_qp_index_offset == -2)
    }

    @Test func sliceGroupsEndTheReading() throws {
        var writer = BitWriter()
        for value in [255, 31] { writer.ue(value) }
        writer.u(2, 0)
        writer.ue(1)
        let pps = try H264.PictureParameterSet(writer.nalUnit(header: 0x68))
        #expect(pps.pic_parameter_set_id == 255 && pps.seq_parameter_set_id == 31)
        #expect(pps.num_slice_groups_minus1 == 1 && pps.coding == nil)
    }

    @Test func anyBytesAreSafe() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<5000 {
            let count = Int.random(in: 0...20, using: &generator)
            let nalUnit = [0x68] + generator.bytes(count)
            if let pps = try? H264.PictureParameterSet(nalUnit) {
                #expect((0...255).contains(pps.pic_parameter_set_id))
            }
        }
    }
}

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
