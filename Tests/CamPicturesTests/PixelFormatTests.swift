import CV4L2
import TestSupport
import Testing

@testable import CamPictures

@Suite struct PixelFormatTests {
    @Test(
        "recognises formats by FourCC and by the names of other tools",
        arguments: [
            ("NV12", PixelFormat.nv12), ("YUYV", .yuyv), ("yuyv422", .yuyv), ("yuy2", .yuyv),
            ("YU12", .yuv420), ("i420", .yuv420), ("mjpeg", .mjpeg), ("MJPG", .mjpeg), ("h264", .h264),
            ("H264", .h264), ("RGB3", .rgb24), ("XR24", .bgrx32), ("bgr0", .bgrx32), ("GREY", .grey),
            ("Y16", PixelFormat(rawValue: 0x2036_3159)),
        ])
    func names(text: String, format: PixelFormat) { #expect(PixelFormat(text) == format) }

    @Test("refuses what is not a FourCC", arguments: ["", "FIVES", "NV1\u{e9}", "\n"])
    func refuses(text: String) { #expect(PixelFormat(text) == nil) }

    @Test("prints a FourCC as its characters, without unprintable ones")
    func prints() {
        #expect(PixelFormat.yuyv.description == "YUYV")
        #expect(PixelFormat(rawValue: 0x2036_3159).description == "Y16")
        #expect(PixelFormat(rawValue: 0x0000_0141).description == "A???")
        #expect(PixelFormat(rawValue: 0x2020_2020).description == "")
    }

    @Test("the 32-bit RGB formats have the byte order of the kernel's documentation")
    func rgb32() throws {
        func offsets(_ fourCC: Int) -> [Int] {
            guard
                case .rgb(4, let red, let green, let blue) = PixelFormat(rawValue: UInt32(fourCC)).arrangement
            else { return [] }
            return [red, green, blue]
        }
        #expect(offsets(Int(CV4L2_FORMAT_XBGR32)) == [2, 1, 0])
        #expect(offsets(Int(CV4L2_FORMAT_BGR32)) == [2, 1, 0])
        #expect(offsets(Int(CV4L2_FORMAT_XRGB32)) == [1, 2, 3])
        #expect(offsets(Int(CV4L2_FORMAT_RGBX32)) == [0, 1, 2])
        #expect(offsets(Int(CV4L2_FORMAT_BGRX32)) == [3, 2, 1])
    }

    @Test("leaves unknown formats to libv4lconvert")
    func vendor() { #expect(PixelFormat("pBAA")?.arrangement == .vendor) }
}

/// Planes as drivers lay them out, with odd and even sizes and with and without padding.
@Suite struct PictureFormatTests {
    private func planes(
        _ format: PixelFormat, _ width: Int, _ height: Int, strides: [Int]? = nil
    ) throws -> [[Int]] {
        format.layout(width, height, strides: strides).planes.map {
            [$0.memoryPlane, $0.offset, $0.stride, $0.rowBytes, $0.rows]
        }
    }

    @Test("NV12 and NV21 have chroma in pairs after luma")
    func semiPlanar() throws {
        for format in [PixelFormat.nv12, .nv21] {
            #expect(
                try planes(format, 640, 480) == [[0, 0, 640, 640, 480], [0, 640 * 480, 640, 640, 240]])
            #expect(
                try planes(format, 640, 480, strides: [704])
                    == [[0, 0, 704, 640, 480], [0, 704 * 480, 704, 640, 240]])
            #expect(try planes(format, 7, 5, strides: [8]) == [[0, 0, 8, 7, 5], [0, 40, 8, 8, 3]])
        }
    }

    @Test("NV16 has as many rows of chroma as of luma, NV24 twice as wide ones")
    func fullHeightSemiPlanar() throws {
        for format in [PixelFormat.nv16, .nv61] {
            #expect(
                try planes(format, 720, 480, strides: [768])
                    == [[0, 0, 768, 720, 480], [0, 768 * 480, 768, 720, 480]])
            #expect(try planes(format, 7, 5) == [[0, 0, 7, 7, 5], [0, 35, 8, 8, 5]])
        }
        for format in [PixelFormat.nv24, .nv42] {
            #expect(
                try planes(format, 720, 480, strides: [768])
                    == [[0, 0, 768, 720, 480], [0, 768 * 480, 1536, 1440, 480]])
            #expect(try planes(format, 7, 5) == [[0, 0, 7, 7, 5], [0, 35, 14, 14, 5]])
        }
    }

    @Test("an odd width without padding still has a whole pair of chroma at its end")
    func oddSemiPlanar() throws {
        #expect(try planes(.nv12, 7, 5) == [[0, 0, 7, 7, 5], [0, 35, 8, 8, 3]])
    }

    @Test("YU12 and YV12 have two chroma planes with half the stride")
    func planar420() throws {
        for format in [PixelFormat.yuv420, .yvu420] {
            #expect(
                try planes(format, 640, 480)
                    == [[0, 0, 640, 640, 480], [0, 307_200, 320, 320, 240], [0, 384_000, 320, 320, 240]])
            #expect(
                try planes(format, 640, 480, strides: [704])
                    == [[0, 0, 704, 640, 480], [0, 337_920, 352, 320, 240], [0, 422_400, 352, 320, 240]])
            #expect(
                try planes(format, 7, 5, strides: [8])
                    == [[0, 0, 8, 7, 5], [0, 40, 4, 4, 3], [0, 52, 4, 4, 3]])
        }
    }

    @Test("planar 4:2:2 halves only the width, planar 4:4:4 nothing")
    func otherPlanar() throws {
        #expect(
            try planes(.yuv422Planar, 7, 5) == [[0, 0, 7, 7, 5], [0, 35, 4, 4, 5], [0, 55, 4, 4, 5]])
        #expect(
            try planes(.yuv444Planar, 7, 5) == [[0, 0, 7, 7, 5], [0, 35, 7, 7, 5], [0, 70, 7, 7, 5]])
    }

    @Test("packed 4:2:2 has four bytes per two pixels, even for the last of an odd row")
    func packed() throws {
        for format in [PixelFormat.yuyv, .uyvy, .yvyu] {
            #expect(try planes(format, 640, 480) == [[0, 0, 1280, 1280, 480]])
            #expect(try planes(format, 7, 5) == [[0, 0, 16, 16, 5]])
            #expect(try planes(format, 640, 480, strides: [1408]) == [[0, 0, 1408, 1280, 480]])
        }
    }

    @Test("RGB has three or four bytes per pixel, grey one")
    func others() throws {
        #expect(try planes(.rgb24, 7, 5) == [[0, 0, 21, 21, 5]])
        #expect(try planes(.bgrx32, 7, 5) == [[0, 0, 28, 28, 5]])
        #expect(try planes(.grey, 7, 5, strides: [16]) == [[0, 0, 16, 7, 5]])
    }

    @Test("multi-planar formats have each plane in its own memory, with its own stride")
    func multiPlanar() throws {
        #expect(
            try planes(.nv12MultiPlanar, 640, 480, strides: [704, 768])
                == [[0, 0, 704, 640, 480], [1, 0, 768, 640, 240]])
        #expect(
            try planes(.yuv420MultiPlanar, 640, 480, strides: [704, 384, 352])
                == [[0, 0, 704, 640, 480], [1, 0, 384, 320, 240], [2, 0, 352, 320, 240]])
        #expect(
            PixelFormat.nv12MultiPlanar.layout(640, 480, strides: [704, 768]).minimumLengths
                == [704 * 479 + 640, 768 * 239 + 640])
    }

    @Test("a buffer is complete without the padding of its last row")
    func lengths() throws {
        #expect(PixelFormat.yuyv.layout(640, 480).minimumLengths == [614_400])
        #expect(PixelFormat.yuyv.layout(640, 480, strides: [1408]).minimumLengths == [1408 * 479 + 1280])
        #expect(
            PixelFormat.nv12.layout(640, 480, strides: [704]).minimumLengths
                == [704 * 480 + 704 * 239 + 640])
        #expect(PixelFormat.mjpeg.layout(640, 480).minimumLengths == [1])
    }

    @Test("a driver's stride of zero means rows without padding")
    func zeroStride() throws {
        #expect(try planes(.yuyv, 640, 480, strides: [0]) == [[0, 0, 1280, 1280, 480]])
    }

    @Test("refuses a stride shorter than a row, in any plane")
    func shortStride() throws {
        let size = try #require(PictureSize(640, 480))
        func format(_ pixelFormat: PixelFormat, _ strides: [Int]) throws -> PictureFormat? {
            try PictureFormat(
                pixelFormat, size: size, frameRate: #require(FrameRate(30)),
                color: ColorEncoding(range: .limited, matrix: .bt601), strides: strides)
        }
        #expect(try format(.yuyv, [1279]) == nil)
        #expect(try format(.nv12, [639]) == nil)
        #expect(try format(.nv12MultiPlanar, [640, 639]) == nil)
        #expect(try format(.yuyv, [-1])?.planes[0].stride == 1280)
        #expect(try format(.yuyv, [.max]) == nil)
    }

    @Test("planes of padded pictures neither overlap nor leave their buffer", arguments: PixelFormat.raw)
    func apart(format: PixelFormat) throws {
        for (width, height) in [(1, 1), (2, 2), (7, 5), (640, 480), (1366, 767)] {
            for padding in [0, 2, 64] {
                let unpadded = format.layout(width, height)
                let strides = unpadded.planes.prefix(format.memoryPlaneCount).map {
                    ($0.stride + padding + 1) & ~1
                }
                let layout = format.layout(width, height, strides: strides)
                for (first, second) in zip(layout.planes, layout.planes.dropFirst())
                where first.memoryPlane == second.memoryPlane {
                    #expect(first.offset + first.length <= second.offset)
                }
                for plane in layout.planes {
                    #expect(plane.offset + plane.length <= layout.minimumLengths[plane.memoryPlane])
                }
            }
        }
    }
}
