import Testing

@testable import Bitstream

@Suite struct SyntaxMeaningTests {
    /// The meaning of each element of a unit; if several have the same name, of the first.
    private func meanings(
        _ nalUnit: [UInt8], _ codec: Codec = .h264, parameterSets: [[UInt8]] = []
    ) throws -> [String: String] {
        let structure = try SyntaxStructure(nalUnit, codec: codec, parameterSets: parameterSets)
        #expect(structure.error == nil)
        let pairs = structure.elements.compactMap { element in
            element.meaning(in: structure).map { (element.nameWithSubscripts, $0) }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    @Test func sequenceParameterSetOfH264() throws {
        let meaning = try meanings(Sample.interlacedSPS)
        #expect(meaning["nal_unit_type"] == "sequence parameter set")
        #expect(meaning["profile_idc"] == "High 4:2:2 profile")
        #expect(meaning["level_idc"] == "level 3")
        #expect(meaning["chroma_format_idc"] == "4:2:2")
        #expect(meaning["bit_depth_luma_minus8"] == "8 bits a sample")
        #expect(meaning["pic_width_in_mbs_minus1"] == "720 samples before cropping")
        #expect(meaning["pic_height_in_map_units_minus1"] == "576 lines before cropping")
        #expect(meaning["frame_mbs_only_flag"] == "frames and fields")
        #expect(meaning["time_scale"] == "25 frames a second")
        #expect(meaning["bit_rate_value_minus1[0]"] == "499968 bits a second")
        #expect(meaning["cpb_size_value_minus1[0]"] == "500000 bits")
        #expect(meaning["cbr_flag[0]"] == "constant bit rate")
        #expect(meaning["seq_parameter_set_id"] == nil, "nothing to add")
    }

    @Test func croppingCountsInLumaSamples() throws {
        let meaning = try meanings(Sample.baselineSPS)
        #expect(meaning["profile_idc"] == "Constrained Baseline profile")
        #expect(meaning["constraint_set0_flag"] == "obeys the Baseline profile")
        #expect(meaning["constraint_set2_flag"] == nil)
        #expect(meaning["frame_crop_bottom_offset"] == "12 lines")
        #expect(meaning["frame_crop_left_offset"] == nil)
        #expect(meaning["colour_primaries"] == "BT.709")
        #expect(meaning["video_full_range_flag"] == "limited range")
        #expect(meaning["aspect_ratio_idc"] == "samples of 1:1, square")
    }

    @Test func picturesAndSlicesOfH264() throws {
        let pps = hex("68fbacb3002c")
        let picture = try meanings(pps, parameterSets: [Sample.interlacedSPS])
        #expect(picture["entropy_coding_mode_flag"] == "CABAC")
        #expect(picture["weighted_bipred_idc"] == "implicit")
        #expect(picture["num_ref_idx_l0_default_active_minus1"] == "3 reference pictures")
        #expect(picture["pic_init_qp_minus26"] == "quantisation parameter 26")
        let slice = try meanings(Sample.idr, parameterSets: [Sample.sps, Sample.pps])
        #expect(slice["nal_unit_type"] == "coded slice of an IDR picture")
        #expect(slice["slice_type"] == "I, as all slices of the picture")
        #expect(slice["first_mb_in_slice"] == "first slice of the picture")
        #expect(try meanings(Sample.aud)["primary_pic_type"] == "I slices")
        #expect(try meanings(Sample.sei)["last_payload_type_byte"] == "user_data_unregistered")
    }

    @Test func parameterSetsOfH265() throws {
        let meaning = try meanings(H265Sample.sps, .hevc)
        #expect(meaning["nal_unit_type"] == "SPS_NUT, sequence parameter set")
        #expect(meaning["nuh_temporal_id_plus1"] == "temporal sub-layer 0")
        #expect(meaning["general_profile_idc"] == "Main profile")
        #expect(meaning["general_tier_flag"] == "Main tier")
        #expect(meaning["general_level_idc"] == "level 4.1")
        #expect(meaning["general_profile_compatibility_flag[2]"] == "Main 10")
        #expect(meaning["general_profile_compatibility_flag[3]"] == nil)
        #expect(meaning["conf_win_left_offset"] == "4 samples")
        #expect(meaning["conf_win_top_offset"] == "8 lines")
        #expect(
            meaning["log2_diff_max_min_luma_coding_block_size"] == "64x64 samples, the coding tree block")
        #expect(meaning["matrix_coeffs"] == "BT.2020 non-constant luminance")
        #expect(meaning["vui_time_scale"] == "60 frames a second")
        let fields = try meanings(H265Sample.fieldsSPS, .hevc)
        #expect(fields["vui_time_scale"] == "15000/1001 frames a second")
        #expect(fields["field_seq_flag"] == "pictures are fields")
        let full = try meanings(H265Sample.main444SPS, .hevc)
        #expect(full["general_profile_idc"] == "Main 4:4:4 12 profile")
    }

    @Test func extensionsThatAreNotReadAreSaidToBe() throws {
        var vps = H265Sample.fieldsVPS
        vps[vps.count - 1] |= 0x10
        let meaning = try meanings(vps, .hevc)
        #expect(meaning["vps_extension_flag"] == "an extension that is not read")
    }

    @Test func slicesAndMessagesOfH265() throws {
        let sets = [H265Sample.fieldsVPS, H265Sample.fieldsSPS, H265Sample.fieldsPPS]
        let slice = try meanings(hex("2801af0821546c18fb5b034565af"), .hevc, parameterSets: sets)
        #expect(slice["nal_unit_type"] == "IDR_N_LP, coded slice segment of an IDR picture")
        #expect(slice["slice_type"] == "I")
        let timing = try meanings(hex("4e0101011180"), .hevc, parameterSets: sets)
        #expect(timing["pic_struct"] == "top field" && timing["source_scan_type"] == "interlaced")
    }
}
