import Testing

@testable import Bitstream

@Suite struct H265PictureParameterSetTests {
    @Test func fromX265() throws {
        let pps = try H265.PictureParameterSet(H265Sample.monochromePPS)
        #expect(pps.sign_data_hiding_enabled_flag && pps.constrained_intra_pred_flag)
        #expect(pps.diff_cu_qp_delta_depth == 1)
        #expect((pps.pps_cb_qp_offset, pps.pps_cr_qp_offset) == (3, -3))
        #expect(pps.weighted_pred_flag && pps.weighted_bipred_flag)
        #expect(pps.entropy_coding_sync_enabled_flag && pps.tiles == nil)
        #expect(pps.deblocking?.pps_beta_offset_div2 == -2 && pps.deblocking?.pps_tc_offset_div2 == 2)
        #expect(pps.extensions == nil)
    }

    @Test func tilesAndTheRangeExtension() throws {
        var writer = BitWriter()
        for value in [63, 15] { writer.ue(value) }
        writer.flags(true, true)
        writer.u(3, 7)
        writer.flags(false, true)
        for value in [14, 3] { writer.ue(value) }
        writer.se(-74)
        writer.flags(false, true, false)
        for value in [12, -12] { writer.se(value) }
        writer.flags(true, false, false, true, true, false)
        for value in [2, 1] { writer.ue(value) }
        writer.flag(false)
        for value in [4, 5, 6] { writer.ue(value) }
        writer.flags(true, false, true, true, true)
        writer.flags(false, true)
        writer.ue(3)
        writer.flags(true, true)
        writer.u(8, 0b1000_0000)
        writer.ue(1)
        writer.flags(true, true)
        for value in [2, 1] { writer.ue(value) }
        for value in [5, -5, 6, -6] { writer.se(value) }
        for value in [3, 4] { writer.ue(value) }
        let pps = try H265.PictureParameterSet(writer.h265NALUnit(type: 34))
        #expect((pps.pps_pic_parameter_set_id, pps.pps_seq_parameter_set_id) == (63, 15))
        #expect(pps.init_qp_minus26 == -74 && pps.num_extra_slice_header_bits == 7)
        let tiles = try #require(pps.tiles)
        #expect((tiles.num_tile_columns_minus1, tiles.num_tile_rows_minus1) == (2, 1))
        #expect(tiles.column_width_minus1 == [4, 5] && tiles.row_height_minus1 == [6])
        #expect(tiles.loop_filter_across_tiles_enabled_flag)
        #expect(pps.deblocking?.pps_deblocking_filter_disabled_flag == true)
        #expect(pps.log2_parallel_merge_level_minus2 == 3 && pps.lists_modification_present_flag)
        let range = try #require(pps.extensions?.range)
        #expect(range.log2_max_transform_skip_block_size_minus2 == 1)
        #expect(range.diff_cu_chroma_qp_offset_depth == 2)
        #expect((range.cb_qp_offset_list, range.cr_qp_offset_list) == ([5, 6], [-5, -6]))
        #expect((range.log2_sao_offset_scale_luma, range.log2_sao_offset_scale_chroma) == (3, 4))
    }

    @Test func screenContent() throws {
        var writer = BitWriter()
        writer.screenContentPictureParameterSet()
        writer.flags(true, true, false)
        for value in [-7, 17, 15] { writer.se(value) }
        writer.flag(true)
        writer.ue(2)
        writer.flag(false)
        for value in [0, 2] { writer.ue(value) }
        for value in [255, 1] { writer.u(8, value) }
        for value in [1023, 2, 3, 4] { writer.u(10, value) }
        let pps = try H265.PictureParameterSet(writer.h265NALUnit(type: 34))
        let extended = try #require(pps.extensions?.screenContent)
        #expect(extended.pps_curr_pic_ref_enabled_flag)
        let transform = try #require(extended.colourTransform)
        #expect((transform.pps_act_y_qp_offset_plus5, transform.pps_act_cr_qp_offset_plus3) == (-7, 15))
        #expect(extended.pps_palette_predictor_initializer == [[255, 1], [1023, 2], [3, 4]])
    }
}
