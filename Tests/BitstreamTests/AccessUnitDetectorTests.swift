import TestSupport
import Testing

@testable import Bitstream

@Suite struct AccessUnitDetectorTests {
    /// How a stream of x264 numbers its pictures, and what the tests vary.
    private struct Slice {
        var type = 1
        var nal_ref_idc = 2
        var first_mb_in_slice = 0
        var pic_parameter_set_id = 0
        var frame_num = 0
        var field: Field?
        var idr_pic_id = 0
        var pic_order_cnt_lsb = 0
        var delta_pic_order_cnt_bottom = 0
        var delta_pic_order_cnt = [0, 0]
        var redundant_pic_cnt = 0

        enum Field { case top, bottom }
    }

    /// Parameter sets that determine the syntax of slices.
    private struct Syntax {
        var pic_order_cnt_type = 0
        var isInterlaced = false
        var hasRedundantPictures = false

        var sps: [UInt8] {
            var bits = BitWriter()
            bits.u(8, 77)
            bits.u(8, 0)
            bits.u(8, 30)
            bits.ue(0)  // seq_parameter_set_id
            bits.ue(0)  // log2_max_frame_num_minus4
            bits.ue(pic_order_cnt_type)
            if pic_order_cnt_type == 0 { bits.ue(0) }  // log2_max_pic_order_cnt_lsb_minus4
            if pic_order_cnt_type == 1 {
                bits.flag(false)  // delta_pic_order_always_zero_flag
                for _ in 0..<2 { bits.se(0) }  // offset_for_non_ref_pic, offset_for_top_to_bottom_field
                bits.ue(0)  // num_ref_frames_in_pic_order_cnt_cycle
            }
            bits.ue(1)  // max_num_ref_frames
            bits.flag(false)  // gaps_in_frame_num_value_allowed_flag
            bits.ue(3)  // pic_width_in_mbs_minus1
            bits.ue(2)  // pic_height_in_map_units_minus1
            bits.flag(!isInterlaced)  // frame_mbs_only_flag
            if isInterlaced { bits.flag(false) }  // mb_adaptive_frame_field_flag
            bits.flag(true)  // direct_8x8_inference_flag
            bits.flag(false)  // frame_cropping_flag
            bits.flag(false)  // vui_parameters_present_flag
            return bits.nalUnit(header: 0x67)
        }

        func pps(_ id: Int = 0) -> [UInt8] {
            var bits = BitWriter()
            bits.ue(id)
            bits.ue(0)  // seq_parameter_set_id
            bits.flag(false)  // entropy_coding_mode_flag
            bits.flag(pic_order_cnt_type != 2)  // bottom_field_pic_order_in_frame_present_flag
            bits.ue(0)  // num_slice_groups_minus1
            for _ in 0..<2 { bits.ue(0) }  // num_ref_idx_l0/l1_default_active_minus1
            bits.flag(false)  // weighted_pred_flag
            bits.u(2, 0)  // weighted_bipred_idc
            for _ in 0..<3 { bits.se(0) }  // pic_init_qp_minus26, pic_init_qs_minus26, chroma_qp_index_offset
            for _ in 0..<2 { bits.flag(false) }  // deblocking control, constrained intra prediction
            bits.flag(hasRedundantPictures)
            return bits.nalUnit(header: 0x68)
        }

        func slice(_ slice: Slice) -> [UInt8] {
            var bits = BitWriter()
            bits.ue(slice.first_mb_in_slice)
            bits.ue(7)  // slice_type
            bits.ue(slice.pic_parameter_set_id)
            bits.u(4, slice.frame_num)
            if isInterlaced {
                bits.flag(slice.field != nil)
                if let field = slice.field { bits.flag(field == .bottom) }
            }
            if slice.type == 5 { bits.ue(slice.idr_pic_id) }
            if pic_order_cnt_type == 0 {
                bits.u(4, slice.pic_order_cnt_lsb)
                if slice.field == nil { bits.se(slice.delta_pic_order_cnt_bottom) }
            }
            if pic_order_cnt_type == 1 {
                bits.se(slice.delta_pic_order_cnt[0])
                if slice.field == nil { bits.se(slice.delta_pic_order_cnt[1]) }
            }
            if hasRedundantPictures { bits.ue(slice.redundant_pic_cnt) }
            bits.u(16, 0xABCD)
            return bits.nalUnit(header: UInt8(slice.nal_ref_idc << 5 | slice.type))
        }
    }

    /// Where each unit belongs: `|` begins, `.` continues, `?` undecided.
    private func boundaries(_ units: [[UInt8]], _ codec: Codec = .h264) -> String {
        var detector = AccessUnitDetector(codec: codec)
        return units.map { unit in
            switch detector.next(unit.span.bytes) {
            case .begins: "|"
            case .continues: "."
            case .undecided: "?"
            }
        }.joined()
    }

    private func secondFields(_ slices: [Slice]) -> [Bool] {
        let syntax = Syntax(isInterlaced: true)
        var detector = AccessUnitDetector(codec: .h264)
        return ([syntax.sps, syntax.pps()] + slices.map(syntax.slice)).map { unit in
            _ = detector.next(unit.span.bytes)
            return detector.isSecondField
        }.suffix(slices.count)
    }

    @Test func parameterSetsAndMessagesBeginAnAccessUnitBehindASlice() {
        #expect(boundaries([Sample.sps, Sample.pps, Sample.sei, Sample.idr, Sample.p]) == "|...|")
        #expect(boundaries([Sample.sps, Sample.pps, Sample.idr, Sample.sei, Sample.p]) == "|..|.")
        #expect(
            boundaries([Sample.aud, Sample.sps, Sample.pps, Sample.idr, Sample.aud, Sample.p]) == "|...|.")
        #expect(
            boundaries([Sample.sps, Sample.pps, Sample.idr, Sample.sps, Sample.pps, Sample.idr]) == "|..|..")
    }

    @Test func slicesOfOnePictureStayTogether() {
        #expect(boundaries([Sample.sps, Sample.pps] + Sample.idrSlices + [Sample.p]) == "|....|")
    }

    @Test func whatMayFollowAPictureStaysWithIt() {
        let auxiliary = hex("13 88843a"), extended = hex("74 000000"), unspecified = hex("18 00")
        let spsExtension = hex("6d 80")
        #expect(
            boundaries([
                Sample.sps, spsExtension, Sample.pps, Sample.idr, auxiliary, extended, unspecified,
                Sample.filler,
                Sample.endOfSequence, Sample.sps,
            ]) == "|........|")
    }

    @Test func theEndOfTheStreamEndsTheAccessUnit() {
        #expect(boundaries([Sample.sps, Sample.pps, Sample.idr, hex("0b"), Sample.filler]) == "|...|")
    }

    @Test func prefixUnitsBelongToTheSliceBehindThem() {
        let prefix = hex("6e 408007")
        let units = [prefix, Sample.idrSlices[0], prefix, Sample.idrSlices[1], prefix, Sample.p]
        #expect(boundaries([Sample.sps, Sample.pps] + units) == "|...?.?|")
    }

    @Test(arguments: 0...2)
    func eachElementThatDiffersBeginsAPicture(pic_order_cnt_type: Int) {
        let syntax = Syntax(pic_order_cnt_type: pic_order_cnt_type)
        let sets = [syntax.sps, syntax.pps(), syntax.pps(1)]
        func begins(_ change: (inout Slice) -> Void, after first: Slice = Slice()) -> Bool {
            var second = first
            second.first_mb_in_slice = 5
            let unchanged = syntax.slice(second)
            change(&second)
            let found = boundaries(sets + [syntax.slice(first), unchanged, syntax.slice(second)])
            #expect(found.hasPrefix("|...."))
            return found.hasSuffix("|")
        }
        #expect(!begins { $0.first_mb_in_slice = 7 })
        #expect(begins { $0.frame_num = 1 })
        #expect(begins { $0.pic_parameter_set_id = 1 })
        #expect(begins { $0.nal_ref_idc = 0 })
        #expect(
            !begins {
                $0.nal_ref_idc = 1; $0.first_mb_in_slice = 7
            })
        #expect(begins { $0.type = 5 })
        #expect(begins({ $0.idr_pic_id = 1 }, after: Slice(type: 5)))
        #expect(begins { $0.pic_order_cnt_lsb = 1 } == (pic_order_cnt_type == 0))
        #expect(begins { $0.delta_pic_order_cnt_bottom = -1 } == (pic_order_cnt_type == 0))
        #expect(begins { $0.delta_pic_order_cnt[0] = 1 } == (pic_order_cnt_type == 1))
        #expect(begins { $0.delta_pic_order_cnt[1] = 1 } == (pic_order_cnt_type == 1))
        #expect(begins { $0.first_mb_in_slice = 0 })
    }

    @Test func slicesOfRedundantPicturesBeginNothing() {
        let syntax = Syntax(hasRedundantPictures: true)
        let slices = [
            Slice(type: 5), Slice(type: 5, redundant_pic_cnt: 1), Slice(type: 5, redundant_pic_cnt: 2),
            Slice(frame_num: 1), Slice(frame_num: 1, redundant_pic_cnt: 1),
        ]
        #expect(boundaries([syntax.sps, syntax.pps()] + slices.map(syntax.slice)) == "|....|.")
    }

    @Test func eachFieldIsAnAccessUnitAndTheSecondIsKnown() {
        let syntax = Syntax(isInterlaced: true)
        let slices = [
            Slice(type: 5, field: .top), Slice(type: 5, first_mb_in_slice: 5, field: .top),
            Slice(field: .bottom), Slice(frame_num: 1, field: .top), Slice(frame_num: 1, field: .bottom),
            Slice(frame_num: 2),
        ]
        #expect(boundaries([syntax.sps, syntax.pps()] + slices.map(syntax.slice)) == "|...||||")
        #expect(secondFields(slices) == [false, false, true, false, true, false])
    }

    @Test func aFieldWithoutACounterpartStaysAlone() {
        #expect(secondFields([Slice(field: .top), Slice(frame_num: 1, field: .bottom)]) == [false, false])
        #expect(secondFields([Slice(field: .top), Slice(nal_ref_idc: 0, field: .bottom)]) == [false, false])
        #expect(secondFields([Slice(field: .top), Slice(type: 5, field: .bottom)]) == [false, false])
        #expect(
            secondFields([
                Slice(field: .top, pic_order_cnt_lsb: 0), Slice(field: .top, pic_order_cnt_lsb: 2),
                Slice(field: .bottom, pic_order_cnt_lsb: 3), Slice(field: .top, pic_order_cnt_lsb: 4),
            ]) == [false, false, true, false])
    }

    @Test func withoutParameterSetsTheFirstMacroblockDecides() {
        #expect(boundaries(Sample.idrSlices + Sample.idrSlices + [Sample.p, Sample.p]) == "|..|..||")
    }

    @Test func damagedUnitsDerailNothing() {
        let unreadable = hex("61"), forbidden = hex("e7 42c00a")
        #expect(
            boundaries([
                Sample.sps, Sample.pps, unreadable, forbidden, [], Sample.sps, Sample.pps, Sample.idr,
            ])
                == "|....|..")
        #expect(boundaries([[], forbidden, Sample.sps, Sample.pps, Sample.idr]) == "|....")
        #expect(boundaries([Sample.sps, Sample.pps, Sample.idr, hex("6742"), Sample.p]) == "|..|.")
    }

    private static let hevcVPS = hex("4001 0c01"), hevcSPS = hex("4201 0101"), hevcPPS = hex("4401 c0")
    private static let hevcAUD = hex("4601 50"), hevcPrefixSEI = hex("4e01 80"),
        hevcSuffixSEI = hex("5001 80")
    private static let hevcIDR = hex("2601 af"), hevcNextSegment = hex("2601 2f"), hevcTrail = hex("0201 d0")

    @Test func hevcPicturesBeginWithTheirFirstSliceSegment() {
        let sets = [Self.hevcVPS, Self.hevcSPS, Self.hevcPPS]
        #expect(boundaries(sets + [Self.hevcIDR, Self.hevcNextSegment, Self.hevcTrail], .hevc) == "|....|")
        #expect(
            boundaries([Self.hevcAUD] + sets + [Self.hevcIDR, Self.hevcAUD, Self.hevcTrail], .hevc)
                == "|....|.")
    }

    @Test func hevcUnitsAheadOfAPictureBeginAnAccessUnit() {
        let ahead = [
            Self.hevcVPS, Self.hevcSPS, Self.hevcPPS, Self.hevcAUD, Self.hevcPrefixSEI, hex("5201 80"),
            hex("5801 80"), hex("6001 80"), hex("6e01 80"),
        ]
        for unit in ahead {
            #expect(boundaries([Self.hevcIDR, unit, unit, Self.hevcTrail], .hevc) == "||..")
        }
        let behind = [
            Self.hevcSuffixSEI, hex("4801"), hex("4c01 ff80"), hex("5a01 80"), hex("7001 80"), hex("7e01"),
        ]
        for unit in behind {
            #expect(boundaries([Self.hevcIDR, unit, unit, Self.hevcTrail], .hevc) == "|..|")
        }
        #expect(boundaries([Self.hevcIDR, hex("4a01"), Self.hevcSuffixSEI], .hevc) == "|.|")
    }

    @Test func hevcUnitsOfOtherLayersStay() {
        let layered = [hex("0209 d0"), hex("4209 01"), hex("4609 50"), hex("4e09 80")]
        #expect(boundaries([Self.hevcIDR] + layered + [Self.hevcTrail], .hevc) == "|....|")
    }

    @Test func hevcDamagedUnitsDerailNothing() {
        #expect(
            boundaries([Self.hevcIDR, hex("02"), [], hex("0201"), hex("8201 d0"), Self.hevcTrail], .hevc)
                == "|....|")
    }

    @Test(arguments: Codec.allCases)
    func anyBytesAreSafe(codec: Codec) {
        var generator = SeededGenerator(seed: 7)
        var detector = AccessUnitDetector(codec: codec)
        for _ in 0..<20000 {
            let unit = generator.bytes(Int.random(in: 0...12, using: &generator))
            _ = detector.next(unit.span.bytes)
        }
    }
}
