import Bitstream
import CamPictures
import Testing

/// H.265 codes each field as a separate picture if field_seq_flag is set; two make a frame.
@Suite struct FieldSequenceTests {
    @Test func twoFieldsMakeAFrame() throws {
        var picture = BitWriter()
        for flag in [true, false] { picture.flag(flag) }
        for value in [0, 2] { picture.ue(value) }
        let idr = [0x28, 0x01] + picture.rbsp
        var inspector = StreamInspector(codec: .hevc)
        var offset = 0
        for unit in [H265Sample.fieldsSPS, H265Sample.fieldsPPS, idr, idr, idr, idr] {
            let span = unit.span.bytes
            inspector.inspect(span, at: NALUnitPlace(offset: offset, prefixLength: 4))
            offset += 4 + unit.count
        }
        inspector.finish(byteCount: offset)
        let summary = inspector.summary
        #expect(summary.format?.frameRate == FrameRate(announced: 15000, in: 1001))
        #expect((summary.accessUnitCount, summary.frameCount) == (4, 2))
        #expect(summary.picturesPerSecond == 30000.0 / 1001)
        #expect(try #require(summary.duration) == 2 * 1001.0 / 15000)
    }
}
