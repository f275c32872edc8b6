import Testing

@testable import Bitstream

extension SyntaxStructure {
    init(_ nalUnit: [UInt8], codec: Codec = .h264, parameterSets: [[UInt8]] = []) throws(SyntaxError) {
        var sets = StreamParameterSets(codec: codec)
        for set in parameterSets { try sets.insert(set.span.bytes) }
        self.init(nalUnit: nalUnit.span.bytes, codec: codec, parameterSets: sets)
    }

    /// The elements in short.
    fileprivate var lines: [String] { elements.map(\.description) }
}

@Suite struct SyntaxStructureTests {
    @Test func theElementsOfAPictureParameterSetInStreamOrder() throws {
        let structure = try SyntaxStructure(hex("68fbacb3002c"), parameterSets: [Sample.interlacedSPS])
        #expect(structure.error == nil)
        #expect(
            structure.lines == [
                "forbidden_zero_bit = 0", "nal_ref_idc = 3", "nal_unit_type = 8", "pic_parameter_set_id = 0",
                "seq_parameter_set_id = 0", "entropy_coding_mode_flag = 1",
                "bottom_field_pic_order_in_frame_present_flag = 1", "num_slice_groups_minus1 = 0",
                "num_ref_idx_l0_default_active_minus1 = 2", "num_ref_idx_l1_default_active_minus1 = 0",
                "weighted_pred_flag = 0", "weighted_bipred_idc = 2", "pic_init_qp_minus26 = 0",
                "pic_init_qs_minus26 = 0", "chroma_qp_index_offset = -2",
                "deblocking_filter_control_present_flag = 1", "constrained_intra_pred_flag = 0",
                "redundant_pic_cnt_present_flag = 0", "transform_8x8_mode_flag = 1",
                "pic_scaling_matrix_present_flag = 1", "pic_scaling_list_present_flag[0] = 0",
                "pic_scaling_list_present_flag[1] = 0", "pic_scaling_list_present_flag[2] = 0",
                "pic_scaling_list_present_flag[3] = 0", "pic_scaling_list_present_flag[4] = 0",
                "pic_scaling_list_present_flag[5] = 0", "pic_scaling_list_present_flag[6] = 0",
                "pic_scaling_list_present_flag[7] = 0", "second_chroma_qp_index_offset = -2",
            ])
    }

    @Test func placesCountEmulationPreventionBytesAndLengthsDoNot() throws {
        let structure = try SyntaxStructure(Sample.interlacedSPS)
        let ticks = try #require(structure.elements.first { $0.name == "num_units_in_tick" })
        #expect(ticks.bitCount == 32 && ticks.value == 1)
        let next = try #require(structure.elements.first { $0.name == "time_scale" })
        #expect(next.bitOffset == ticks.bitOffset + 32 + 8, "a byte 03 lies within it")
        #expect(structure["time_scale"] == 50 && structure["nothing"] == nil)
    }

    @Test func whatPrecedesAnErrorIsUnderstood() throws {
        let whole = try SyntaxStructure(Sample.baselineSPS)
        #expect(whole.error == nil)
        for count in 0..<Sample.baselineSPS.count - 1 {
            let part = try SyntaxStructure(Array(Sample.baselineSPS[..<count]))
            #expect(part.error?.reason == .truncated)
            #expect(part.elements == Array(whole.elements.prefix(part.elements.count)))
        }
    }
}
