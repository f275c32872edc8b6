import CV4L2
import CamPictures
import Testing

@testable import Capture

/// V4L2's colour constants as H.273's numbers.
@Suite struct ColorEncodingTests {
    private func color(
        _ colorspace: v4l2_colorspace, encoding: v4l2_ycbcr_encoding = V4L2_YCBCR_ENC_DEFAULT,
        quantization: v4l2_quantization = V4L2_QUANTIZATION_DEFAULT, _ format: PixelFormat = .yuyv,
        height: Int = 480
    ) -> ColorEncoding {
        ColorEncoding(
            colorspace: colorspace.rawValue, ycbcrEncoding: encoding.rawValue,
            quantization: quantization.rawValue, transferFunction: 0, pixelFormat: format, height: height)
    }

    @Test("the matrix follows the encoding, or the colour space if that is left open")
    func matrix() {
        #expect(color(V4L2_COLORSPACE_SRGB).matrix == .bt601)
        #expect(color(V4L2_COLORSPACE_DEFAULT).matrix == .bt601)
        #expect(color(V4L2_COLORSPACE_SMPTE170M).matrix == .bt601)
        #expect(color(V4L2_COLORSPACE_REC709).matrix == .bt709)
        #expect(color(V4L2_COLORSPACE_BT2020).matrix == .bt2020)
        #expect(color(V4L2_COLORSPACE_REC709, encoding: V4L2_YCBCR_ENC_601).matrix == .bt601)
        #expect(color(V4L2_COLORSPACE_SRGB, encoding: V4L2_YCBCR_ENC_709).matrix == .bt709)
        #expect(color(V4L2_COLORSPACE_SRGB, encoding: V4L2_YCBCR_ENC_BT2020).matrix == .bt2020)
    }

    @Test("the range is limited unless the driver says otherwise, or says JPEG")
    func range() {
        #expect(color(V4L2_COLORSPACE_SRGB).range == .limited)
        #expect(color(V4L2_COLORSPACE_SRGB, quantization: V4L2_QUANTIZATION_FULL_RANGE).range == .full)
        #expect(color(V4L2_COLORSPACE_JPEG).range == .full)
        #expect(color(V4L2_COLORSPACE_JPEG, quantization: V4L2_QUANTIZATION_LIM_RANGE).range == .limited)
    }

    @Test(
        "JPEG pictures are full-range BT.601 whatever the driver says", arguments: [PixelFormat.mjpeg, .jpeg])
    func jpeg(format: PixelFormat) {
        let color = color(
            V4L2_COLORSPACE_REC709, encoding: V4L2_YCBCR_ENC_709, quantization: V4L2_QUANTIZATION_LIM_RANGE,
            format, height: 1080)
        #expect(color.range == .full)
        #expect(color.matrix == .bt601)
    }

    @Test("RGB becomes limited range, BT.601 below 720 lines, otherwise BT.709")
    func rgb() {
        let full = V4L2_QUANTIZATION_FULL_RANGE
        #expect(color(V4L2_COLORSPACE_SRGB, quantization: full, .rgb24, height: 719).matrix == .bt601)
        #expect(color(V4L2_COLORSPACE_SRGB, quantization: full, .rgb24, height: 720).matrix == .bt709)
        #expect(color(V4L2_COLORSPACE_SRGB, quantization: full, .rgb24).range == .limited)
    }

    @Test("primaries and transfer are H.273's numbers of the colour space")
    func primaries() {
        func numbers(_ space: v4l2_colorspace) -> [UInt8] {
            [color(space).primaries, color(space).transfer]
        }
        #expect(numbers(V4L2_COLORSPACE_SRGB) == [1, 13])
        #expect(numbers(V4L2_COLORSPACE_DEFAULT) == [1, 13])
        #expect(numbers(V4L2_COLORSPACE_SMPTE170M) == [6, 6])
        #expect(numbers(V4L2_COLORSPACE_REC709) == [1, 1])
        #expect(numbers(V4L2_COLORSPACE_BT2020) == [9, 14])
    }

    @Test("treats numbers that no header has as left open")
    func unknown() {
        let color = ColorEncoding(
            colorspace: 4711, ycbcrEncoding: 4711, quantization: 4711, transferFunction: 4711,
            pixelFormat: .yuyv, height: 480)
        #expect(color == ColorEncoding(range: .limited, matrix: .bt601, primaries: 1, transfer: 13))
    }
}
