import TestSupport
import Testing

@testable import Bitstream

extension H265.SliceHeader {
    init(
        _ nalUnit: [UInt8], _ sequence: H265.SequenceParameterSet? = nil,
        _ picture: H265.PictureParameterSet? = nil
    ) throws(SyntaxError) {
        try self.init(
            nalUnit.span.bytes, sequenceParameterSet: sequence, pictureParameterSet: picture)
    }
}

/// Slices that x265 wrote with the parameter sets of `H265Sample.sps`; values are libavcodec's.
@Suite struct H265SliceHeaderTests {
    private let sps: H265.SequenceParameterSet
    private let pps: H265.PictureParameterSet

    init() throws {
        sps = try H265.SequenceParameterSet(H265Sample.sps)
        pps = try H265.PictureParameterSet(H265Sample.pps)
    }

    @Test func withoutParameterSetsTheStartIsRead() throws {
        let idr = try H265.SliceHeader(hex("2801af0858aa218e8063f05b0635"))
        #expect(idr.first_slice_segment_in_pic_flag && idr.no_output_of_prior_pics_flag == false)
        #expect(idr.slice_pic_parameter_set_id == 0)
        #expect(idr.dependent_slice_segment_flag == false && idr.slice_segment_address == 0)
        #expect(idr.slice == nil)
    }

    @Test func idrPicturesHaveNoReferences() throws {
        let slice = try #require(H265.SliceHeader(hex("2801af0858aa218e8063f05b0635"), sps, pps).slice)
        #expect(slice.kind == .i && slice.slice_pic_order_cnt_lsb == 0 && slice.pic_output_flag)
        #expect(slice.shortTermReferences == nil)
    }

    @Test func orderAndReferencesOfOtherPictures() throws {
        let p = try #require(H265.SliceHeader(hex("0201d0294be10c61032424b70efd"), sps, pps).slice)
        #expect(p.kind == .p && p.slice_pic_order_cnt_lsb == 5)
        #expect(p.shortTermReferences?.preceding.map(\.deltaPOC) == [-5])
        #expect(p.shortTermReferences?.following.isEmpty == true)
        let b = try #require(H265.SliceHeader(hex("0001e024f55fa2c296dd80abf484"), sps, pps).slice)
        #expect(b.kind == .b && b.slice_pic_order_cnt_lsb == 1)
        #expect(b.shortTermReferences?.preceding.map(\.deltaPOC) == [-1])
        #expect(b.shortTermReferences?.following.map(\.deltaPOC) == [2, 4])
    }

    @Test func laterSegmentsHaveTheirAddress() throws {
        let sequence = try H265.SequenceParameterSet(H265Sample.fieldsSPS)
        let picture = try H265.PictureParameterSet(H265Sample.fieldsPPS)
        let first = try H265.SliceHeader(hex("2801af0821546c18fb5b034565af"), sequence, picture)
        let second = try H265.SliceHeader(hex("28012e78410acfe0c7ea1ea45a7a"), sequence, picture)
        #expect(first.slice_segment_address == 0)
        #expect(!second.first_slice_segment_in_pic_flag && second.slice_segment_address == 14)
        #expect(second.slice?.kind == .i)
        let unknown = try H265.SliceHeader(hex("28012e78410acfe0c7ea1ea45a7a"))
        #expect(unknown.slice_segment_address == nil && unknown.dependent_slice_segment_flag == nil)
    }

    @Test func longTermReferencesAndReservedBits() throws {
        let sequence = try H265.SequenceParameterSet(H265SequenceParameterSetTests.handMade())
        var parameters = BitWriter()
        for value in [0, 15] { parameters.ue(value) }
        parameters.flags(false, true)
        parameters.u(3, 2)
        parameters.u(2, 0)
        for value in [0, 0] { parameters.ue(value) }
        parameters.se(0)
        parameters.u(3, 0)
        for value in [0, 0] { parameters.se(value) }
        parameters.u(10, 0)
        parameters.ue(0)
        parameters.u(2, 0)
        let picture = try H265.PictureParameterSet(parameters.h265NALUnit(type: 34))

        var writer = BitWriter()
        writer.flag(true)
        writer.ue(0)
        writer.u(2, 0b01)
        writer.ue(1)
        writer.flag(false)  // Not output.
        writer.u(2, 2)
        writer.u(4, 9)
        writer.flags(true, true)  // The second set of the sequence parameter set.
        for value in [1, 1] { writer.ue(value) }
        writer.flags(true, false)  // The second picture named there, low bits only.
        writer.u(4, 5)
        writer.flags(true, true)
        writer.ue(7)
        writer.flag(true)
        let slice = try #require(H265.SliceHeader(writer.h265NALUnit(type: 1), sequence, picture).slice)
        #expect(slice.kind == .p && !slice.pic_output_flag && slice.colour_plane_id == 2)
        #expect(slice.slice_pic_order_cnt_lsb == 9)
        #expect(slice.shortTermReferences == sequence.shortTermReferencePictureSets[1])
        #expect(
            slice.longTermReferences == [
                .init(pocLSB: 15, isUsedByCurrent: false, delta_poc_msb_cycle_lt: nil),
                .init(pocLSB: 5, isUsedByCurrent: true, delta_poc_msb_cycle_lt: 7),
            ])
        #expect(slice.slice_temporal_mvp_enabled_flag)
    }

    @Test func anyBytesAreSafe() throws {
        let sequence = try H265.SequenceParameterSet(H265SequenceParameterSetTests.handMade())
        var generator = SeededGenerator(seed: 5)
        var readable = 0
        for _ in 0..<20000 {
            let type = UInt8.random(in: 0...21, using: &generator)
            let nalUnit = [type << 1, 1] + generator.bytes(Int.random(in: 0...30, using: &generator))
            if (try? H265.SliceHeader(nalUnit, sequence, pps)) != nil { readable += 1 }
        }
        #expect(readable > 0)
    }
}
