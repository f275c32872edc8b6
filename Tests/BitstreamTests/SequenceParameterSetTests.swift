import CamPictures
import TestSupport
import Testing

@testable import Bitstream

/// Values are those that libavcodec's `trace_headers` gives for the same bytes.
@Suite struct SequenceParameterSetTests {
    @Test func constrainedBaseline() throws {
        let sps = try H264.SequenceParameterSet(Sample.baselineSPS)
        #expect(sps.profile_idc == 66)
        #expect(sps.constraint_set0_flag && sps.constraint_set1_flag && !sps.constraint_set2_flag)
        #expect(sps.profileName == "Constrained Baseline")
        #expect(sps.level_idc == 13)
        #expect(sps.levelName == "1.3")
        #expect(sps.seq_parameter_set_id == 0)
        #expect(sps.chroma_format_idc == 1)
        #expect(sps.log2_max_frame_num_minus4 == 0)
        #expect(sps.pic_order_cnt_type == 2)
        #expect(sps.max_num_ref_frames == 1)
        #expect(sps.pic_width_in_mbs_minus1 == 19)
        #expect(sps.pic_height_in_map_units_minus1 == 11)
        #expect(sps.frame_mbs_only_flag)
        #expect(sps.frame_crop_bottom_offset == 6)
        #expect((sps.codedWidth, sps.codedHeight) == (320, 192))
        #expect((sps.width, sps.height) == (320, 180))
        #expect(sps.frameRate == FrameRate(announced: 30, in: 1))
        #expect(!sps.isFullRange)
        #expect(sps.maxNumReorderFrames == 0)
        let vui = try #require(sps.vui_parameters)
        #expect(vui.aspect_ratio_idc == 1)
        #expect(vui.video_signal_type_present_flag)
        #expect(vui.video_format == 5)
        #expect(vui.colour_description_present_flag)
        #expect((vui.colour_primaries, vui.transfer_characteristics, vui.matrix_coefficients) == (1, 1, 1))
        #expect(vui.timing == .init(num_units_in_tick: 1, time_scale: 60, fixed_frame_rate_flag: true))
        #expect(vui.nal_hrd_parameters == nil && vui.vcl_hrd_parameters == nil)
        let restriction = try #require(vui.bitstream_restriction)
        #expect(restriction.motion_vectors_over_pic_boundaries_flag)
        #expect(restriction.log2_max_mv_length_horizontal == 9)
        #expect(restriction.max_dec_frame_buffering == 1)
    }

    @Test func interlacedWithHRD() throws {
        let sps = try H264.SequenceParameterSet(Sample.interlacedSPS)
        #expect(sps.profileName == "High 4:2:2")
        #expect(sps.levelName == "3")
        #expect(sps.chroma_format_idc == 2)
        #expect(sps.scaling_lists == nil)
        #expect(sps.log2_max_pic_order_cnt_lsb_minus4 == 2)
        #expect(!sps.frame_mbs_only_flag && sps.mb_adaptive_frame_field_flag)
        #expect((sps.width, sps.height) == (720, 576))
        #expect(sps.frameRate?.framesPerSecond == 25)
        #expect(sps.maxNumReorderFrames == 2)
        let vui = try #require(sps.vui_parameters)
        #expect(!vui.video_signal_type_present_flag)
        #expect((vui.video_format, vui.matrix_coefficients) == (5, 2))
        #expect(vui.low_delay_hrd_flag == false)
        #expect(vui.pic_struct_present_flag)
        let hrd = try #require(vui.nal_hrd_parameters)
        let schedule = try #require(hrd.schedules.first)
        #expect(hrd.schedules.count == 1)
        #expect(schedule.bit_rate_value_minus1 == 7811 && schedule.cpb_size_value_minus1 == 15624)
        #expect(schedule.cbr_flag)
        #expect(hrd.bitRate(of: schedule) == 7812 * 64)
        #expect(hrd.codedPictureBufferSize(of: schedule) == 15625 * 32)
        #expect(hrd.initial_cpb_removal_delay_length_minus1 == 18)
        #expect(hrd.cpb_removal_delay_length_minus1 == 12)
        #expect(hrd.dpb_output_delay_length_minus1 == 6)
        #expect(hrd.time_offset_length == 0)
    }

    @Test func croppedHigh444() throws {
        let sps = try H264.SequenceParameterSet(Sample.high444SPS)
        #expect(sps.profileName == "High 4:4:4 Predictive")
        #expect(sps.levelName == "1")
        #expect(sps.chroma_format_idc == 3 && !sps.separate_colour_plane_flag)
        #expect(sps.bitDepth == 10 && sps.bit_depth_chroma_minus8 == 2)
        #expect((sps.width, sps.height) == (70, 50))
        #expect(sps.cropUnit == (x: 1, y: 1))
        #expect(sps.frameRate == FrameRate(announced: 30000, in: 1001))
        #expect(sps.isFullRange)
        #expect(sps.vui_parameters?.video_format == 1)
        #expect(sps.vui_parameters?.overscan_appropriate_flag == false)
    }

    @Test func scalingListsAndPictureOrderCountCycle() throws {
        let sps = try H264.SequenceParameterSet(Self.handMade())
        #expect(sps.seq_parameter_set_id == 31)
        #expect(sps.constraint_set4_flag && sps.constraint_set5_flag)
        #expect(sps.profileName == "Constrained High")
        let lists = try #require(sps.scaling_lists)
        #expect(lists.count == 8)
        #expect(lists[0] == .default)
        #expect(lists[1] == .explicit((1...16).map { UInt8(8 + $0) }))
        #expect(lists[2] == .explicit([5] + [UInt8](repeating: 5, count: 15)))
        #expect(lists[3...6].allSatisfy { $0 == .fallBack })
        #expect(lists[7] == .explicit([UInt8](repeating: 8, count: 64)))
        let cycle = try #require(sps.pictureOrderCountCycle)
        #expect(cycle.delta_pic_order_always_zero_flag)
        #expect(cycle.offset_for_non_ref_pic == -2)
        #expect(cycle.offset_for_top_to_bottom_field == 1)
        #expect(cycle.offset_for_ref_frame == [4, -4, 1000])
        #expect(sps.vui_parameters?.sar_width == 16 && sps.vui_parameters?.sar_height == 11)
        #expect(sps.vui_parameters?.chroma_sample_loc_type_bottom_field == 3)
        #expect(sps.vui_parameters?.vcl_hrd_parameters?.schedules.count == 2)
        #expect(sps.vui_parameters?.low_delay_hrd_flag == true)
        #expect(sps.frameRate == nil)
    }

    /// High profile with everything that x264 does not write.
    private static func handMade(cropRight: Int = 3) -> [UInt8] {
        var writer = BitWriter()
        writer.u(8, 100)
        writer.u(8, 0b0000_1100)
        writer.u(8, 40)
        writer.ue(31)
        for value in [1, 0, 0] { writer.ue(value) }
        writer.flag(false)
        writeScalingLists(&writer)
        writer.ue(3)
        writer.ue(1)
        writer.flag(true)
        for value in [-2, 1] { writer.se(value) }
        writer.ue(3)
        for value in [4, -4, 1000] { writer.se(value) }
        writer.ue(4)
        writer.flag(false)
        for value in [9, 9] { writer.ue(value) }
        writer.u(3, 0b111)
        for value in [0, cropRight, 0, 0] { writer.ue(value) }
        writeVUI(&writer)
        return writer.nalUnit(header: 0x67)
    }

    private static func writeScalingLists(_ writer: inout BitWriter) {
        writer.flag(true)
        writer.flag(true)  // The default: the first entry becomes 0.
        writer.se(-8)
        writer.flag(true)  // Rising by 1.
        for _ in 0..<16 { writer.se(1) }
        writer.flag(true)  // 5, and the rest the same.
        writer.se(-3)
        writer.se(-5)
        for _ in 3...6 { writer.flag(false) }
        writer.flag(true)  // 64 equal entries.
        for _ in 0..<64 { writer.se(0) }
    }

    private static func writeVUI(_ writer: inout BitWriter) {
        writer.flag(true)
        writer.flag(true)
        writer.u(8, 255)
        writer.u(16, 16)
        writer.u(16, 11)
        writer.u(2, 0b00)
        writer.flag(true)
        for value in [2, 3] { writer.ue(value) }
        writer.flag(true)  // Useless timing: no ticks.
        writer.u(32, 0)
        writer.u(32, 50)
        writer.flag(false)
        writer.u(2, 0b01)  // No NAL HRD, but a VCL HRD.
        writer.ue(1)
        writer.u(8, 0x12)
        for value in [100, 200, 300, 400] {
            writer.ue(value)
            if value % 200 == 0 { writer.flag(false) }
        }
        writer.u(20, 0x12345)
        writer.u(3, 0b100)
    }

    @Test func croppingBeyondThePictureIsRefused() {
        #expect(throws: SyntaxError.self) {
            try H264.SequenceParameterSet(Self.handMade(cropRight: 80))
        }
        #expect(throws: SyntaxError.self) {
            try H264.SequenceParameterSet(Self.handMade(cropRight: 0xFFFF_FFFE))
        }
    }

    @Test(arguments: [
        (66, 0b0000_0000, 10, "Baseline", "1"), (66, 0b0101_0000, 11, "Constrained Baseline", "1b"),
        (77, 0b0000_0000, 31, "Main", "3.1"), (77, 0b0001_0000, 11, "Main", "1b"),
        (88, 0b0000_0000, 11, "Extended", "1.1"), (100, 0b0000_0000, 9, "High", "1b"),
        (100, 0b0000_1000, 51, "Progressive High", "5.1"), (110, 0b0001_0000, 41, "High 10 Intra", "4.1"),
        (122, 0b0000_0000, 40, "High 4:2:2", "4"), (244, 0b0001_0000, 62, "High 4:4:4 Intra", "6.2"),
        (44, 0b0001_0000, 52, "CAVLC 4:4:4 Intra", "5.2"), (118, 0, 40, "Multiview High", "4"),
        (7, 0, 40, "profile 7", "4"),
    ])
    func profilesAndLevels(_ profile: Int, _ flags: Int, _ level: Int, _ name: String, _ levelName: String)
        throws
    {
        var writer = BitWriter()
        for value in [profile, flags, level] { writer.u(8, value) }
        writer.ue(0)
        if [100, 110, 122, 244, 44, 118].contains(profile) {
            for value in [1, 0, 0] { writer.ue(value) }
            writer.u(2, 0)
        }
        for value in [0, 2, 1] { writer.ue(value) }
        writer.flag(false)
        for value in [9, 9] { writer.ue(value) }
        writer.u(4, 0b1100)
        let sps = try H264.SequenceParameterSet(writer.nalUnit(header: 0x67))
        #expect(sps.profileName == name)
        #expect(sps.levelName == levelName)
        #expect(sps.width == 160)
        #expect(sps.maxNumReorderFrames == 0, "picture order count type 2 has no reordering")
    }

    @Test func decodedPictureBufferOfLevel4At1080Lines() throws {
        var writer = BitWriter()
        for value in [77, 0, 40] { writer.u(8, value) }
        for value in [0, 0, 0, 0, 4] { writer.ue(value) }
        writer.flag(false)
        for value in [119, 67] { writer.ue(value) }
        writer.u(4, 0b1100)
        let sps = try H264.SequenceParameterSet(writer.nalUnit(header: 0x67))
        #expect(sps.maxDecodedPictureBufferFrames == 4)
        #expect(sps.maxNumReorderFrames == 4, "inferred where the VUI is silent")
    }

    @Test(arguments: [Sample.baselineSPS, Sample.interlacedSPS, Sample.high444SPS, handMade()])
    func everyPrefixIsAnErrorOrTheWhole(_ nalUnit: [UInt8]) throws {
        let whole = try H264.SequenceParameterSet(nalUnit)
        for count in 0..<nalUnit.count {
            let prefix = Array(nalUnit[..<count])
            do {
                // The last byte may hold no more than the trailing bits.
                #expect(try H264.SequenceParameterSet(prefix) == whole)
                #expect(count == nalUnit.count - 1)
            } catch {
                #expect(error.reason == .truncated)
            }
        }
    }

    @Test func otherUnitsAreRefused() {
        #expect(
            throws: SyntaxError(element: "nal_unit_type", reason: .unexpectedType(8), bitOffset: 3)
        ) {
            try H264.SequenceParameterSet(Sample.pps)
        }
    }

    @Test func damageIsHarmless() {
        var generator = SeededGenerator(seed: 3)
        var readable = 0
        for original in [Sample.baselineSPS, Sample.interlacedSPS, Sample.high444SPS, Self.handMade()] {
            for bit in 8..<original.count * 8 {
                var nalUnit = original
                nalUnit[bit / 8] ^= 0x80 >> UInt8(bit % 8)
                readable += Self.survives(nalUnit) ? 1 : 0
            }
        }
        #expect(readable > 500)
        var lucky = 0
        for _ in 0..<20000 {
            let count = Int.random(in: 0...80, using: &generator)
            lucky += Self.survives([0x67] + generator.bytes(count)) ? 1 : 0
        }
        #expect(lucky > 10)
    }

    /// Reads a set and everything derived from it; false if it is refused.
    private static func survives(_ nalUnit: [UInt8]) -> Bool {
        guard let sps = try? H264.SequenceParameterSet(nalUnit) else { return false }
        #expect(sps.width > 0 && sps.height > 0)
        #expect(sps.maxNumReorderFrames >= 0)
        #expect(!sps.profileName.isEmpty && !sps.levelName.isEmpty)
        if let rate = sps.frameRate { #expect(rate.framesPerSecond > 0) }
        return true
    }
}
