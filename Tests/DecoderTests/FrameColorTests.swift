import CFFmpeg
import CamPictures
import Testing

@testable import Decoder

/// How samples are interpreted, by what a stream declares.
@Suite struct FrameColorTests {
    private func color(
        height: Int32 = 1080, _ space: AVColorSpace = AVCOL_SPC_UNSPECIFIED,
        range: AVColorRange = AVCOL_RANGE_UNSPECIFIED, format: AVPixelFormat = AV_PIX_FMT_YUV420P
    ) throws -> ColorEncoding {
        var frame = av_frame_alloc()
        defer { av_frame_free(&frame) }
        let allocated = try #require(frame)
        allocated.pointee.height = height
        (allocated.pointee.colorspace, allocated.pointee.color_range) = (space, range)
        allocated.pointee.format = format.rawValue
        return ColorEncoding(allocated.pointee)
    }

    @Test("a stream without a matrix has BT.601 up to 576 lines, BT.709 above")
    func unnamed() throws {
        #expect(
            try [480, 576, 577, 720].map { try color(height: $0).matrix } == [.bt601, .bt601, .bt709, .bt709])
    }

    @Test("a declared matrix counts, whatever the size")
    func named() throws {
        for space in [AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC] {
            #expect(try color(space).matrix == .bt601)
        }
        #expect(try color(height: 480, AVCOL_SPC_BT709).matrix == .bt709)
        for space in [AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL] {
            #expect(try color(space).matrix == .bt2020)
        }
    }

    @Test("full range is declared, or in libavcodec's older form")
    func range() throws {
        #expect(try !color().isFullRange)
        #expect(try !color(range: AVCOL_RANGE_MPEG).isFullRange)
        #expect(try color(range: AVCOL_RANGE_JPEG).isFullRange)
        #expect(try color(format: AV_PIX_FMT_YUVJ420P).isFullRange)
    }
}
