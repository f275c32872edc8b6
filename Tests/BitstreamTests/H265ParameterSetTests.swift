import Testing

@testable import Bitstream

extension H265.VideoParameterSet {
    init(_ nalUnit: [UInt8]) throws(SyntaxError) { try self.init(nalUnit.span.bytes) }
}

extension H265.SequenceParameterSet {
    init(_ nalUnit: [UInt8]) throws(SyntaxError) { try self.init(nalUnit.span.bytes) }
}

extension H265.PictureParameterSet {
    init(_ nalUnit: [UInt8]) throws(SyntaxError) { try self.init(nalUnit.span.bytes) }
}

/// Parameter sets that x265 wrote.
enum H265Sample {
    /// 322x182 at 30 frames a second, Main, with HRD, at level 4.1.
    static let vps = hex("40010c01ffff01600000030090000003000003007b95980c000003000400000300f2a8")
    static let sps = hex(
        "42010101600000030090000003000003007ba00a480b9b21565959a49395e1c9c244826904000003000400000300f2b00a4b3"
            + "70007a12000f42440")
    static let pps = hex("4401c172b46240")

    /// 416x240 fields, Main 10, two temporal sub-layers, 30000/1001 fields a second.
    static let fieldsVPS = hex("40010c02ffff02200000030040000003000003003c00009598acc048")
    static let fieldsSPS = hex(
        "42010202200000030040000003000003003c0000a00d080f13659598acd24995e02d0d00000303e90000753008")
    static let fieldsPPS = hex("4401c172b44240")

    /// 416x240, 4:4:4 at 12 bits.
    static let main444SPS = hex(
        "420101040800000300980800000300003c9001a101e2294b2b355e5780b40400000fa40001d4c020")
    /// 416x240, monochrome, CBR with HRD.
    static let monochromeSPS = hex(
        "4201010408000003009fc8000003000099c034203c596566924b2bc05b02000007d20000ea60c0292cdc001e848003d099")
    static let monochromePPS = hex("4401c17a8c7670a424")
}

extension BitWriter {
    /// The NAL unit of the base layer of this type.
    func h265NALUnit(type: UInt8) -> [UInt8] {
        EmulationPrevention.escape(([type << 1, 1] + rbsp).span.bytes)
    }

    mutating func flags(_ values: Bool...) { for value in values { flag(value) } }

    /// profile_tier_level() of one layer: Main profile, level 3.1.
    mutating func mainProfile() {
        u(8, 1)
        u(32, 0x6000_0000)
        u(4, 0b1001)
        u(32, 0)
        u(12, 0)
        u(8, 93)
    }
}

/// Values are those that libavcodec's `trace_headers` gives for the same bytes.
@Suite struct H265SequenceParameterSetTests {
    @Test func main() throws {
        let sps = try H265.SequenceParameterSet(H265Sample.sps)
        #expect((sps.profileName, sps.levelName) == ("Main", "4.1"))
        #expect(sps.profile_tier_level.tierName == "Main")
        #expect(sps.profile_tier_level.general.compatibleProfiles == [1, 2])
        #expect((sps.pic_width_in_luma_samples, sps.pic_height_in_luma_samples) == (328, 184))
        #expect((sps.width, sps.height) == (318, 174))
        #expect(sps.chroma_format_idc == 1 && sps.bitDepth == 8 && sps.isFullRange)
        #expect(sps.codingTreeBlockSize == 64 && sps.pictureSizeInCodingTreeBlocks == 18)
        #expect(sps.scaling_list_enabled_flag && sps.scaling_list_data == nil)
        #expect(sps.frameRate == NominalFrameRate(60, in: 1))
        #expect(sps.maxNumReorderPictures == 2)
        let vui = try #require(sps.vui_parameters)
        #expect(vui.aspect_ratio_idc == 14 && vui.sar_width == nil)
        #expect((vui.video_format, vui.colour_primaries, vui.transfer_characteristics) == (1, 9, 18))
        #expect(vui.matrix_coeffs == 9 && vui.chroma_sample_loc_type_top_field == 1)
        #expect(vui.timing?.num_ticks_poc_diff_one_minus1 == 1)
        let hrd = try #require(vui.hrd_parameters)
        let schedule = try #require(hrd.subLayers.first?.nal.first)
        #expect(hrd.bitRate(of: schedule) == 1_000_000)
        #expect(hrd.codedPictureBufferSize(of: schedule) == 1_000_000)
        #expect(!schedule.cbr_flag && hrd.subLayers[0].vcl.isEmpty)
        #expect(hrd.common.au_cpb_removal_delay_length_minus1 == 11)
        #expect(sps.extensions == nil)
    }

    @Test func fieldsAndSubLayers() throws {
        let sps = try H265.SequenceParameterSet(H265Sample.fieldsSPS)
        #expect(sps.profileName == "Main 10" && sps.bitDepth == 10)
        #expect(sps.sps_max_sub_layers_minus1 == 1 && sps.subLayerOrderings.count == 2)
        #expect(
            sps.profile_tier_level.subLayers == [.init(profile: nil, sub_layer_level_idc: nil)])
        #expect(sps.vui_parameters?.field_seq_flag == true)
        #expect(sps.vui_parameters?.frame_field_info_present_flag == true)
        #expect(sps.frameRate == NominalFrameRate(15000, in: 1001), "two fields make a frame")
    }

    @Test func fullChromaAtTwelveBits() throws {
        let sps = try H265.SequenceParameterSet(H265Sample.main444SPS)
        #expect(sps.profileName == "Main 4:4:4 12")
        #expect(sps.chroma_format_idc == 3 && !sps.separate_colour_plane_flag)
        #expect((sps.bit_depth_luma_minus8, sps.bit_depth_chroma_minus8) == (4, 4))
        #expect((sps.width, sps.height) == (416, 240) && sps.conformanceWindow == nil)
        #expect(sps.codingTreeBlockSize == 16)
    }

    @Test func monochrome() throws {
        let sps = try H265.SequenceParameterSet(H265Sample.monochromeSPS)
        #expect(sps.profileName == "Monochrome" && sps.levelName == "5.1")
        var highTier = H265Sample.monochromeSPS
        highTier[3] |= 0x20
        #expect(sps.profile_tier_level.tierName == "Main")
        #expect(try H265.SequenceParameterSet(highTier).profile_tier_level.tierName == "High")
        #expect(sps.chroma_format_idc == 0 && sps.chromaArrayType == 0)
        #expect(sps.vui_parameters?.hrd_parameters?.subLayers.first?.nal.first?.cbr_flag == true)
    }

    /// Everything that x265 does not write.
    static func handMade(cropRight: Int = 3) -> [UInt8] {
        var writer = BitWriter()
        writer.u(4, 15)
        writer.u(3, 0)
        writer.flag(true)
        writer.mainProfile()
        for value in [15, 3] { writer.ue(value) }
        writer.flag(true)
        for value in [640, 480] { writer.ue(value) }
        writer.flag(true)
        for value in [1, cropRight, 0, 8, 8, 8, 0] { writer.ue(value) }
        writer.flag(false)
        for value in [5, 2, 0] { writer.ue(value) }
        for value in [0, 2, 0, 3, 1, 2] { writer.ue(value) }
        writeScalingLists(&writer)
        writer.flags(true, false, true)
        writer.u(4, 7)
        writer.u(4, 6)
        for value in [1, 1] { writer.ue(value) }
        writer.flag(true)
        writeReferencePictureSets(&writer)
        writer.flags(true, false)
        writeVUI(&writer)
        writer.flag(true)
        writer.u(8, 0b1000_0000)
        writer.u(9, 0b1_0101_0011)
        return writer.h265NALUnit(type: 33)
    }

    private static func writeScalingLists(_ writer: inout BitWriter) {
        writer.flags(true, true)
        for size in 0..<4 {
            for matrix in 0..<(size == 3 ? 2 : 6) {
                if size == 2, matrix == 1 {
                    writer.flag(true)
                    writer.se(12)
                    for _ in 0..<64 { writer.se(1) }
                } else {
                    writer.flag(false)
                    writer.ue(matrix == 1 ? 1 : 0)
                }
            }
        }
    }

    private static func writeReferencePictureSets(_ writer: inout BitWriter) {
        writer.ue(2)
        for value in [2, 1] { writer.ue(value) }
        writer.ue(0)
        writer.flag(true)
        writer.ue(2)
        writer.flag(false)
        writer.ue(3)
        writer.flag(true)
        // From { -1, -4, 4 } and 0, two pictures later: { -3, -6, 2, -2 } without the second.
        writer.flags(true, true)
        writer.ue(1)
        writer.flags(true, false, false, false, true, true)
        writer.flag(true)
        writer.ue(2)
        for (lsb, isUsed) in [(3, true), (15, false)] {
            writer.u(4, lsb)
            writer.flag(isUsed)
        }
    }

    private static func writeVUI(_ writer: inout BitWriter) {
        writer.flag(true)
        writer.u(4, 0b0000)
        writer.flags(true, false, true, true)
        for value in [0, 1, 2, 3] { writer.ue(value) }
        writer.flag(true)
        writer.u(32, 0)
        writer.u(32, 50)
        writer.flags(false, true)
        writer.flags(true, true, true)
        writer.u(8, 98)
        writer.u(5, 3)
        writer.flag(true)
        writer.u(5, 4)
        for value in [1, 2, 3] { writer.u(4, value) }
        for value in [23, 15, 5] { writer.u(5, value) }
        writer.flags(false, false, false)
        writer.ue(1)
        for value in 0..<4 {
            for rate in 1...4 { writer.ue(value * 10 + rate) }
            writer.flag(value == 3)
        }
        writer.flags(true, true, false, true)
        for value in [4, 2, 1, 15, 14] { writer.ue(value) }
    }

    @Test func toolsThatAreRare() throws {
        let sps = try H265.SequenceParameterSet(Self.handMade())
        #expect((sps.sps_video_parameter_set_id, sps.sps_seq_parameter_set_id) == (15, 15))
        #expect(sps.separate_colour_plane_flag && sps.chromaArrayType == 0)
        #expect((sps.width, sps.height) == (636, 472))
        #expect((sps.bitDepth, sps.bit_depth_chroma_minus8) == (16, 8))
        #expect(sps.subLayerOrderings.map(\.max_dec_pic_buffering_minus1) == [5])
        #expect(sps.pcm?.pcm_sample_bit_depth_chroma_minus1 == 6)
        #expect(sps.pcm?.pcm_loop_filter_disabled_flag == true)
        let lists = try #require(sps.scaling_list_data)
        #expect(lists.map(\.count) == [6, 6, 6, 2])
        #expect(lists[0][0] == .copy(delta: 0) && lists[3][1] == .copy(delta: 1))
        #expect(lists[2][1] == .explicit(entries: (21...84).map { UInt8($0) }, dc: 20))
        #expect(sps.longTermReferencePictures.map(\.lt_ref_pic_poc_lsb_sps) == [3, 15])
        #expect(sps.longTermReferencePictures.map(\.used_by_curr_pic_lt_sps_flag) == [true, false])
        let vui = try #require(sps.vui_parameters)
        #expect(vui.neutral_chroma_indication_flag && vui.frame_field_info_present_flag)
        #expect(vui.defaultDisplayWindow?.right_offset == 1 && vui.defaultDisplayWindow?.bottom_offset == 3)
        #expect(sps.frameRate == nil, "no units in a tick")
        #expect(vui.bitstream_restriction?.min_spatial_segmentation_idc == 4)
        #expect(vui.bitstream_restriction?.log2_max_mv_length_vertical == 14)
        #expect(sps.extensions?.range?.transform_skip_rotation_enabled_flag == true)
        #expect(sps.extensions?.range?.cabac_bypass_alignment_enabled_flag == true)
    }

    @Test func referenceDecoderBelowThePicture() throws {
        let sps = try H265.SequenceParameterSet(Self.handMade())
        let hrd = try #require(sps.vui_parameters?.hrd_parameters)
        #expect(hrd.common.subPicture?.tick_divisor_minus2 == 98)
        #expect(hrd.common.subPicture?.cpb_size_du_scale == 3)
        let layer = try #require(hrd.subLayers.first)
        #expect(!layer.fixed_pic_rate_within_cvs_flag && layer.elemental_duration_in_tc_minus1 == nil)
        #expect(layer.nal.count == 2 && layer.vcl.count == 2)
        #expect(layer.vcl[1].bit_rate_value_minus1 == 31 && layer.vcl[1].bit_rate_du_value_minus1 == 34)
        #expect(layer.vcl[1].cbr_flag)
    }

    @Test func referencePictureSetsArePredictedFromEachOther() throws {
        let sets = try H265.SequenceParameterSet(Self.handMade()).shortTermReferencePictureSets
        #expect(sets[0].preceding.map(\.deltaPOC) == [-1, -4])
        #expect(sets[0].preceding.map(\.isUsedByCurrent) == [true, false])
        #expect(sets[0].following.map(\.deltaPOC) == [4])
        #expect(sets[1].preceding.map(\.deltaPOC) == [-2, -3])
        #expect(sets[1].preceding.map(\.isUsedByCurrent) == [true, true])
        #expect(sets[1].following.map(\.deltaPOC) == [2])
        #expect(sets[1].following.map(\.isUsedByCurrent) == [false])
    }

    @Test func croppingBeyondThePictureIsRefused() {
        #expect(throws: SyntaxError.self) {
            try H265.SequenceParameterSet(Self.handMade(cropRight: 639))
        }
        #expect(throws: SyntaxError.self) {
            try H265.SequenceParameterSet(Self.handMade(cropRight: 0xFFFF_FFFE))
        }
    }

    @Test func otherLayersAndTypesAreRefused() {
        #expect(
            throws: SyntaxError(
                element: "nuh_layer_id", reason: .outOfRange(value: 1, allowed: 0...0), bitOffset: 7)
        ) {
            try H265.SequenceParameterSet([0x42, 0x09] + H265Sample.sps.dropFirst(2))
        }
        #expect(throws: SyntaxError.self) { try H265.SequenceParameterSet(H265Sample.pps) }
        #expect(throws: SyntaxError.self) { try H265.SequenceParameterSet([0x42]) }
    }

    @Test(arguments: [
        H265Sample.sps, H265Sample.fieldsSPS, H265Sample.main444SPS, H265Sample.monochromeSPS, handMade(),
    ])
    func everyPrefixIsAnErrorOrTheWhole(_ nalUnit: [UInt8]) throws {
        let whole = try H265.SequenceParameterSet(nalUnit)
        for count in 0..<nalUnit.count {
            do {
                // The last byte may hold no more than the trailing bits.
                #expect(try H265.SequenceParameterSet(Array(nalUnit[..<count])) == whole)
                #expect(count == nalUnit.count - 1)
            } catch {
                #expect(error.reason == .truncated)
            }
        }
    }

    @Test func damageIsHarmless() {
        for original in [
            H265Sample.sps, H265Sample.fieldsSPS, H265Sample.main444SPS, H265Sample.monochromeSPS,
            Self.handMade(),
        ] {
            for bit in 16..<original.count * 8 {
                var nalUnit = original
                nalUnit[bit / 8] ^= 0x80 >> UInt8(bit % 8)
                guard let sps = try? H265.SequenceParameterSet(nalUnit) else { continue }
                #expect(sps.width > 0 && sps.height > 0)
                #expect(!sps.profileName.isEmpty && !sps.levelName.isEmpty)
                if let rate = sps.frameRate { #expect(rate.framesPerSecond > 0) }
            }
        }
    }
}

@Suite struct H265ProfileNameTests {
    /// The constraint flags of Table A.2, from `max_12bit` to `lower_bit_rate`.
    @Test(arguments: [
        (0b1_1111_1001, "Monochrome"), (0b1_0011_1001, "Monochrome 12"), (0b0_0011_1001, "Monochrome 16"),
        (0b1_0011_0001, "Main 12"), (0b1_1010_0001, "Main 4:2:2 10"), (0b1_0010_0001, "Main 4:2:2 12"),
        (0b1_1100_0001, "Main 4:4:4"), (0b1_1000_0001, "Main 4:4:4 10"), (0b1_0000_0001, "Main 4:4:4 12"),
        (0b1_1111_0100, "Main Intra"), (0b1_1011_0100, "Main 10 Intra"), (0b1_0011_0100, "Main 12 Intra"),
        (0b1_1010_0100, "Main 4:2:2 10 Intra"), (0b1_1100_0100, "Main 4:4:4 Intra"),
        (0b0_0000_0100, "Main 4:4:4 16 Intra"), (0b1_1100_0110, "Main 4:4:4 Still Picture"),
        (0b0_0000_0110, "Main 4:4:4 16 Still Picture"), (0b0_0000_0001, "format range extensions"),
    ])
    func formatRangeExtensions(_ flags: Int, _ name: String) throws {
        #expect(try sps(profile: 4, constraints: flags).profileName == name)
    }

    @Test(arguments: [
        (1, "Main"), (2, "Main 10"), (3, "Main Still Picture"), (6, "Multiview Main"), (31, "profile 31"),
    ])
    func others(_ profile: Int, _ name: String) throws {
        #expect(try sps(profile: profile, constraints: 0).profileName == name)
    }

    /// A sequence parameter set up to its level, followed by a plain rest.
    private func sps(profile: Int, constraints: Int) throws -> H265.SequenceParameterSet {
        var writer = BitWriter()
        writer.u(8, 1)
        writer.u(8, profile)
        writer.u(32, 0)
        writer.u(4, 0b1001)
        writer.u(9, constraints)
        writer.u(35, 0)
        writer.u(8, 120)
        for value in [0, 1, 64, 64] { writer.ue(value) }
        writer.flag(false)
        for value in [0, 0, 0] { writer.ue(value) }
        writer.flag(true)
        for value in [0, 0, 0] { writer.ue(value) }
        for value in [0, 0, 0, 0, 0, 0] { writer.ue(value) }
        writer.flags(false, false, false, false)
        writer.ue(0)
        writer.flags(false, false, false, false, false)
        let sps = try H265.SequenceParameterSet(writer.h265NALUnit(type: 33))
        #expect(sps.levelName == "4" && sps.vui_parameters == nil)
        return sps
    }
}

@Suite struct H265VideoParameterSetTests {
    @Test func fromX265() throws {
        let vps = try H265.VideoParameterSet(H265Sample.vps)
        #expect(vps.vps_video_parameter_set_id == 0 && vps.vps_max_sub_layers_minus1 == 0)
        #expect(vps.profile_tier_level.levelName == "4.1")
        #expect(vps.subLayerOrderings.first?.max_dec_pic_buffering_minus1 == 4)
        #expect(vps.pictureRate == NominalFrameRate(60, in: 1))
        #expect(vps.layerSets.isEmpty && vps.hrd_parameters.isEmpty && !vps.vps_extension_flag)
        #expect(try H265.VideoParameterSet(H265Sample.fieldsVPS).timing == nil)
    }

    @Test func layerSetsAndTheirReferenceDecoders() throws {
        var writer = BitWriter()
        writer.u(4, 3)
        writer.flags(true, true)
        writer.u(6, 1)
        writer.u(3, 0)
        writer.flag(true)
        writer.u(16, 0xFFFF)
        writer.mainProfile()
        writer.flag(false)
        for value in [1, 0, 0] { writer.ue(value) }
        writer.u(6, 1)
        writer.ue(1)
        writer.flags(true, true)
        writer.flag(true)
        writer.u(32, 1)
        writer.u(32, 25)
        writer.flag(false)
        writer.ue(2)
        writer.ue(0)
        writer.flags(true, false, false)
        for value in [1, 2] { writer.u(4, value) }
        for value in [9, 10, 11] { writer.u(5, value) }
        for rate in [100, 200] {
            writer.flag(true)
            for value in [0, 0, rate, rate] { writer.ue(value) }
            writer.flag(true)
            if rate == 100 {
                writer.ue(1)
                writer.flag(false)  // The common part is the one before.
            }
        }
        writer.flag(false)
        let vps = try H265.VideoParameterSet(writer.h265NALUnit(type: 32))
        #expect(vps.layerSets == [0b11])
        #expect(vps.hrd_parameters.map(\.hrd_layer_set_idx) == [0, 1])
        #expect(vps.hrd_parameters[1].parameters.common == vps.hrd_parameters[0].parameters.common)
        let second = vps.hrd_parameters[1].parameters
        #expect(second.bitRate(of: second.subLayers[0].nal[0]) == 201 << 7)
    }
}

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

@Suite struct H265VideoParameterSetBufferingTests {
    /// `cprms_present_flag`, 7.4.3.1, which libavcodec does not know.
    @Test func theCommonPartIsTheOneBefores() throws {
        var writer = BitWriter()
        writer.u(6, 3)
        writer.u(9, 0)
        writer.flag(true)
        writer.u(16, 0xFFFF)
        writer.mainProfile()
        writer.flag(true)
        for value in [0, 0, 0] { writer.ue(value) }
        writer.u(6, 0)
        writer.ue(1)
        writer.flags(true, true)
        for value in [1, 25] { writer.u(32, value) }
        writer.flag(false)
        for value in [2, 0] { writer.ue(value) }
        writer.flags(true, false, false)
        for value in [1, 2] { writer.u(4, value) }
        for value in [23, 15, 5] { writer.u(5, value) }
        writer.schedule(bitRate: 99)
        writer.ue(1)
        writer.flag(false)
        writer.schedule(bitRate: 9)
        writer.flag(false)
        let vps = try H265.VideoParameterSet(writer.h265NALUnit(type: 32))
        let parameters = vps.hrd_parameters.map(\.parameters)
        #expect(parameters.map(\.common.bit_rate_scale) == [1, 1])
        #expect(parameters[0].common == parameters[1].common)
        let schedules = parameters.compactMap { $0.subLayers.first?.nal.first }
        #expect(schedules.map(\.bit_rate_value_minus1) == [99, 9])
        #expect(parameters[1].bitRate(of: schedules[1]) == 1280)
    }
}

extension BitWriter {
    /// One sub-layer of hrd_parameters() with one schedule.
    fileprivate mutating func schedule(bitRate: Int) {
        flag(true)
        for value in [0, 0, bitRate, 199] { ue(value) }
        flag(false)
    }

    /// The shortest picture parameter set with an extension, as far as the extension.
    fileprivate mutating func screenContentPictureParameterSet() {
        for value in [0, 0] { ue(value) }
        flags(false, false)
        u(3, 0)
        flags(false, false)
        for value in [0, 0] { ue(value) }
        se(0)
        flags(false, false, false)
        for value in [0, 0] { se(value) }
        flags(false, false, false, false, false, false, false, false, false, false)
        ue(0)
        flags(false, true)
        u(8, 0b0001_0000)
    }
}
