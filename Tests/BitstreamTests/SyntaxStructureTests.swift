import TestSupport
import Testing

@testable import Bitstream

extension SyntaxStructure {
    init(_ nalUnit: [UInt8], codec: Codec = .h264, parameterSets: [[UInt8]] = []) throws(SyntaxError) {
        var sets = StreamParameterSets(codec: codec)
        for set in parameterSets { try sets.insert(set.span.bytes) }
        self.init(nalUnit: nalUnit.span.bytes, codec: codec, parameterSets: sets)
    }

    /// The elements in short form.
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

    @Test func anElementOutOfRangeIsTheLast() throws {
        var writer = BitWriter()
        for value in [66, 0, 30] { writer.u(8, value) }
        writer.ue(32)
        let structure = try SyntaxStructure(writer.nalUnit(header: 0x67))
        #expect(structure.lines.last == "seq_parameter_set_id = 32")
        #expect(structure.error?.reason == .outOfRange(value: 32, allowed: 0...31))
    }

    @Test func elementsOfRareUnits() throws {
        #expect(try SyntaxStructure(hex("09 50")).lines.last == "primary_pic_type = 2")
        #expect(try SyntaxStructure(hex("460150"), codec: .hevc).lines.last == "pic_type = 2")
        #expect(try SyntaxStructure(hex("03 50")).lines.last == "slice_id = 1")
        let subset = [0x6F] + Sample.sps.dropFirst()
        #expect(
            try SyntaxStructure(subset).lines.dropFirst(3)
                == SyntaxStructure(Sample.sps).lines.dropFirst(3))
        var writer = BitWriter()
        for value in [0, 1, 2] { writer.ue(value) }
        writer.flag(true)
        writer.u(11, 1023)
        writer.u(11, 5)
        writer.flag(false)
        #expect(
            try SyntaxStructure(writer.nalUnit(header: 0x6D)).lines.dropFirst(3) == [
                "seq_parameter_set_id = 0", "aux_format_idc = 1", "bit_depth_aux_minus8 = 2",
                "alpha_incr_flag = 1", "alpha_opaque_value = 1023", "alpha_transparent_value = 5",
                "additional_extension_flag = 0",
            ])
    }

    @Test func headersOfScalableAndMultiviewUnits() throws {
        let scalable = try SyntaxStructure(hex("6e c0 8091"))
        #expect(scalable["svc_extension_flag"] == 1 && scalable["idr_flag"] == 1)
        #expect(scalable["temporal_id"] == 4 && scalable.lines.last == "reserved_three_2bits = 1")
        let multiview = try SyntaxStructure(hex("74 40 0447"))
        #expect(multiview["non_idr_flag"] == 1 && multiview["view_id"] == 17)
        #expect(multiview.lines.last == "reserved_one_bit = 1")
        let depth = try SyntaxStructure(hex("75 82a3"))
        #expect(depth["view_idx"] == 5 && depth["anchor_pic_flag"] == 1)
        #expect(depth.lines.last == "inter_view_flag = 1" && depth.error == nil)
    }

    @Test func unitsOfOtherLayersEndWithTheirHeader() throws {
        let structure = try SyntaxStructure([0x42, 0x09] + H265Sample.sps.dropFirst(2), codec: .hevc)
        #expect(structure.lines.last == "nuh_temporal_id_plus1 = 1")
        #expect(structure["nuh_layer_id"] == 1 && structure.error == nil)
    }

    /// Sample units with every third bit flipped, and random bytes.
    @Test(arguments: [
        (Codec.h264, [Sample.interlacedSPS, hex("68fbacb3002c"), Sample.idr, Sample.p, Sample.sei]),
        (.h264, [Sample.high444SPS, hex("68ebe3c44c000440"), hex("0601040000432080"), Sample.aud]),
        (.hevc, [H265Sample.vps, H265Sample.sps, H265Sample.pps, hex("0001e024f55fa2c296dd80abf484")]),
        (.hevc, [H265Sample.fieldsVPS, H265SequenceParameterSetTests.handMade(), hex("4e0101011180")]),
    ])
    func anyBytesAreSafe(_ codec: Codec, _ units: [[UInt8]]) throws {
        var generator = SeededGenerator(seed: 6)
        var sets = StreamParameterSets(codec: codec)
        func read(_ nalUnit: [UInt8]) {
            _ = try? sets.insert(nalUnit.span.bytes)
            let structure = SyntaxStructure(
                nalUnit: nalUnit.span.bytes, codec: codec, parameterSets: sets)
            var end = 0
            var isInOrder = true
            for element in structure.elements {
                isInOrder = isInOrder && element.bitOffset >= end
                end = element.bitOffset + element.bitCount
                _ = element.meaning(in: structure)
            }
            #expect(isInOrder && end <= nalUnit.count * 8)
            _ = SupplementalEnhancementInformation(nalUnit.span.bytes, parameterSets: sets)
        }
        for unit in units {
            read(unit)
            for bit in stride(from: 0, to: unit.count * 8, by: 3) {
                var damaged = unit
                damaged[bit / 8] ^= 0x80 >> UInt8(bit % 8)
                read(damaged)
            }
            let header = codec == .h264 ? 1 : 2
            for _ in 0..<100 {
                read(unit.prefix(header) + generator.bytes(Int.random(in: 0...60, using: &generator)))
            }
        }
    }
}
