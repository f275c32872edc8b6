import TestSupport
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
        let coding = pps.coding
        #expect(coding.pic_init_qp_minus26 == -3)
        #expect(coding.deblocking_filter_control_present_flag)
        #expect(!coding.redundant_pic_cnt_present_flag)
    }

    @Test func interlacedHigh() throws {
        let pps = try H264.PictureParameterSet(hex("68fbacb3002c"))
        #expect(pps.entropy_coding_mode_flag)
        #expect(pps.bottom_field_pic_order_in_frame_present_flag)
        let coding = pps.coding
        #expect(coding.num_ref_idx_l0_default_active_minus1 == 2)
        #expect(coding.weighted_bipred_idc == 2)
        #expect(coding.chroma_qp_index_offset == -2)
    }

    @Test func scalingMatrixAndEightByEightTransform() throws {
        let interlaced = try H264.PictureParameterSet(
            hex("68fbacb3002c"), sequenceParameterSet: H264.SequenceParameterSet(Sample.interlacedSPS))
        #expect(
            interlaced.transform
                == .init(
                    transform_8x8_mode_flag: true, scaling_lists: Array(repeating: .fallBack, count: 8),
                    second_chroma_qp_index_offset: -2))
        let high444 = try H264.PictureParameterSet(
            hex("68ebe3c44c000440"), sequenceParameterSet: H264.SequenceParameterSet(Sample.high444SPS))
        #expect(high444.transform?.scaling_lists?.count == 12)
        #expect(high444.transform?.second_chroma_qp_index_offset == 4)
        #expect(high444.coding.pic_init_qp_minus26 == -3)
    }

    @Test func theEndIsInferredWhereThereIsNone() throws {
        let sps = try H264.SequenceParameterSet(Sample.sps)
        let pps = try H264.PictureParameterSet(Sample.pps, sequenceParameterSet: sps)
        #expect(
            pps.transform
                == .init(
                    transform_8x8_mode_flag: false, scaling_lists: nil, second_chroma_qp_index_offset: 0))
        #expect(try H264.PictureParameterSet(Sample.pps).transform == nil)
    }

    /// A picture parameter set with `groupCount` slice groups whose map `writeMap` writes.
    private func read(
        groupCount: Int, _ writeMap: (inout BitWriter) -> Void
    ) throws -> H264.PictureParameterSet {
        var writer = BitWriter()
        for value in [255, 31] { writer.ue(value) }
        writer.u(2, 0)
        writer.ue(groupCount - 1)
        writeMap(&writer)
        for value in [5, 0] { writer.ue(value) }
        writer.u(3, 0)
        for value in [1, -1, 2] { writer.se(value) }
        writer.u(3, 0b101)
        let pps = try H264.PictureParameterSet(writer.nalUnit(header: 0x68))
        #expect(pps.pic_parameter_set_id == 255 && pps.seq_parameter_set_id == 31)
        #expect(pps.num_slice_groups_minus1 == groupCount - 1)
        #expect(pps.coding.num_ref_idx_l0_default_active_minus1 == 5, "what follows the map is read")
        #expect(pps.coding.redundant_pic_cnt_present_flag)
        return pps
    }

    @Test func everyTypeOfSliceGroupMap() throws {
        let interleaved = try read(groupCount: 3) { for value in [0, 9, 19, 29] { $0.ue(value) } }
        #expect(interleaved.sliceGroupMap == .interleaved(run_length_minus1: [9, 19, 29]))
        let dispersed = try read(groupCount: 8) { $0.ue(1) }
        #expect(dispersed.sliceGroupMap == .dispersed)
        let foreground = try read(groupCount: 2) { for value in [2, 12, 34] { $0.ue(value) } }
        #expect(foreground.sliceGroupMap == .foreground([.init(top_left: 12, bottom_right: 34)]))
        for type in 3...5 {
            let changing = try read(groupCount: 2) {
                $0.ue(type)
                $0.flag(true)
                $0.ue(98)
            }
            #expect(changing.sliceGroupMap?.slice_group_map_type == type)
            #expect(
                changing.sliceGroupMap
                    == .changing(
                        slice_group_map_type: type, slice_group_change_direction_flag: true,
                        slice_group_change_rate_minus1: 98))
        }
        let explicit = try read(groupCount: 5) {
            for value in [6, 3] { $0.ue(value) }
            for group in [4, 0, 2, 1] { $0.u(3, group) }
        }
        #expect(explicit.sliceGroupMap == .explicit(slice_group_id: [4, 0, 2, 1]))
        #expect(throws: SyntaxError.self) {
            try read(groupCount: 2) { for value in [6, 0xFFFF_FFFE] { $0.ue(value) } }
        }
    }

    @Test func anyBytesAreSafe() throws {
        let sps = try H264.SequenceParameterSet(Sample.high444SPS)
        var generator = SeededGenerator(seed: 4)
        var readable = 0
        for _ in 0..<5000 {
            let count = Int.random(in: 0...20, using: &generator)
            let nalUnit = [0x68] + generator.bytes(count)
            if let pps = try? H264.PictureParameterSet(nalUnit, sequenceParameterSet: sps) {
                readable += 1
                #expect((0...255).contains(pps.pic_parameter_set_id))
            }
        }
        #expect(readable > 10)
    }
}
