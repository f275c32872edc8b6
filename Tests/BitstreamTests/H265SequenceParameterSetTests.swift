import CamPictures
import Testing

@testable import Bitstream

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
        #expect(sps.frameRate == FrameRate(announced: 60, in: 1))
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
        #expect(sps.frameRate == FrameRate(announced: 15000, in: 1001), "two fields make a frame")
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
        var readable = 0
        for original in [
            H265Sample.sps, H265Sample.fieldsSPS, H265Sample.main444SPS, H265Sample.monochromeSPS,
            Self.handMade(),
        ] {
            for bit in 16..<original.count * 8 {
                var nalUnit = original
                nalUnit[bit / 8] ^= 0x80 >> UInt8(bit % 8)
                guard let sps = try? H265.SequenceParameterSet(nalUnit) else { continue }
                readable += 1
                #expect(sps.width > 0 && sps.height > 0)
                #expect(!sps.profileName.isEmpty && !sps.levelName.isEmpty)
                if let rate = sps.frameRate { #expect(rate.framesPerSecond > 0) }
            }
        }
        #expect(readable > 500)
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
