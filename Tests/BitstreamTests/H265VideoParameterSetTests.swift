import CamPictures
import Testing

@testable import Bitstream

@Suite struct H265VideoParameterSetTests {
    @Test func fromX265() throws {
        let vps = try H265.VideoParameterSet(H265Sample.vps)
        #expect(vps.vps_video_parameter_set_id == 0 && vps.vps_max_sub_layers_minus1 == 0)
        #expect(vps.profile_tier_level.levelName == "4.1")
        #expect(vps.subLayerOrderings.first?.max_dec_pic_buffering_minus1 == 4)
        #expect(vps.pictureRate == FrameRate(announced: 60, in: 1))
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
