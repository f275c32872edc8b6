import Testing

@testable import Bitstream

/// Order counts of pictures, from the elements of their first slice.
@Suite struct PictureOrderCounterTests {
    /// An H.264 stream of frames, with `log2_max_frame_num` and `log2_max_pic_order_cnt_lsb` of 4 bits.
    private struct Stream {
        var sets = StreamParameterSets(codec: .h264)
        let type: Int

        init(type: Int, cycle: (nonReference: Int, bottom: Int, frames: [Int]) = (0, 0, [])) throws {
            self.type = type
            var sps = BitWriter()
            for value in [66, 0, 30] { sps.u(8, value) }
            sps.ue(0)  // seq_parameter_set_id
            sps.ue(0)  // log2_max_frame_num_minus4
            sps.ue(type)
            if type == 0 { sps.ue(0) }
            if type == 1 {
                sps.flag(true)  // delta_pic_order_always_zero_flag
                sps.se(cycle.nonReference)
                sps.se(cycle.bottom)
                sps.ue(cycle.frames.count)
                for offset in cycle.frames { sps.se(offset) }
            }
            sps.ue(1)  // max_num_ref_frames
            sps.flag(false)
            sps.ue(3)
            sps.ue(2)
            sps.flag(true)  // frame_mbs_only_flag
            for _ in 0..<3 { sps.flag(false) }
            var pps = BitWriter()
            pps.ue(0)
            pps.ue(0)
            for _ in 0..<2 { pps.flag(false) }
            for _ in 0..<3 { pps.ue(0) }
            pps.flag(false)
            pps.u(2, 0)
            for _ in 0..<3 { pps.se(0) }
            for _ in 0..<3 { pps.flag(false) }
            let units = [sps.nalUnit(header: 0x67), pps.nalUnit(header: 0x68)]
            for unit in units { try sets.insert(unit.span.bytes) }
        }

        func slice(isIDR: Bool = false, isReference: Bool = true, frameNumber: Int, low: Int = 0) -> [UInt8] {
            var slice = BitWriter()
            slice.ue(0)
            slice.ue(isIDR ? 7 : 5)
            slice.ue(0)
            slice.u(4, frameNumber)
            if isIDR { slice.ue(0) }
            if type == 0 { slice.u(4, low) }
            slice.u(16, 0)
            return slice.nalUnit(header: isIDR ? 0x65 : isReference ? 0x61 : 0x01)
        }
    }

    private func counts(_ stream: Stream, _ slices: [[UInt8]]) -> [Int?] {
        var counter = PictureOrderCounter()
        return slices.map { counter.next($0.span.bytes, stream.sets)?.count }
    }

    @Test("wrapping low bits carry into the high bits, from reference pictures only")
    func type0() throws {
        let stream = try Stream(type: 0)
        let lows = [(0, true), (8, true), (4, false), (0, true), (12, false), (8, true), (0, true)]
        let slices = lows.enumerated().map { index, element in
            stream.slice(isIDR: index == 0, isReference: element.1, frameNumber: index, low: element.0)
        }
        #expect(counts(stream, slices) == [0, 8, 4, 16, 12, 24, 32])
    }

    @Test(
        "H.265's leading pictures do not affect the order of those that follow", arguments: [7, 9] as [UInt8])
    func leading(type: UInt8) throws {
        var sets = StreamParameterSets(codec: .hevc)
        for set in [H265Sample.vps, H265Sample.sps, H265Sample.pps] { try sets.insert(set.span.bytes) }
        func slice(_ type: UInt8, low: Int) -> [UInt8] {
            var bits = BitWriter()
            bits.flag(true)  // first_slice_segment_in_pic_flag
            if type >= 16 { bits.flag(false) }  // no_output_of_prior_pics_flag
            bits.ue(0)
            bits.ue(2)
            if type != 19 {
                bits.u(8, low)
                bits.flag(false)  // short_term_ref_pic_set_sps_flag, and a set of nothing
                for _ in 0..<2 { bits.ue(0) }
            }
            bits.u(32, 0)
            return bits.h265NALUnit(type: type)
        }
        var counter = PictureOrderCounter()
        let pictures: [(UInt8, Int)] = [(19, 0), (1, 100), (1, 200), (21, 8), (type, 190), (1, 70)]
        let counts = pictures.map { counter.next(slice($0, low: $1).span.bytes, sets)?.count }
        #expect(counts == [0, 100, 200, 264, 190, 326])
    }

    @Test("a cycle of offsets gives the counts if slices carry none")
    func type1() throws {
        // I b b P b b P: each reference picture is three frames ahead, the others lie in between.
        let stream = try Stream(type: 1, cycle: (nonReference: -4, bottom: 0, frames: [6]))
        let pictures = [(0, true), (1, true), (2, false), (2, true), (3, false)]
        let slices = pictures.enumerated().map { index, picture in
            stream.slice(isIDR: index == 0, isReference: picture.1, frameNumber: picture.0)
        }
        #expect(counts(stream, slices) == [0, 6, 2, 12, 8])
    }

    @Test("type 2 is decoding order, across the wrap of frame_num")
    func type2() throws {
        let stream = try Stream(type: 2)
        let slices = (0..<40).map { stream.slice(isIDR: $0 == 0, frameNumber: $0 % 16) }
        #expect(counts(stream, slices) == (0..<40).map { 2 * $0 })
    }

    @Test("an IDR picture starts over")
    func idr() throws {
        let stream = try Stream(type: 0)
        var counter = PictureOrderCounter()
        let slices = [true, false, true].map { stream.slice(isIDR: $0, frameNumber: 0, low: $0 ? 0 : 6) }
        let orders = slices.map { counter.next($0.span.bytes, stream.sets) }
        #expect(orders.map { $0?.beginsSequence } == [true, false, true])
        #expect(orders.map { $0?.count } == [0, 6, 0])
    }

    @Test("without parameter sets there is no order")
    func missingSets() throws {
        let slice = try Stream(type: 0).slice(isIDR: true, frameNumber: 0)
        var counter = PictureOrderCounter()
        let order = counter.next(slice.span.bytes, StreamParameterSets(codec: .h264))
        #expect(order == nil)
    }
}
