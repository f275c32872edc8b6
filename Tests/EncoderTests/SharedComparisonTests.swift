import CamPictures
import Testing

@testable import Encoder
@testable import CamConversion

/// The comparison of what a GPU sees with what a camera wrote.
@Suite struct SharedComparisonTests {
    private static let size = PictureSize(16, 4)

    @Test("NV12 is the same byte for byte", arguments: [0, 1])
    func planar(difference: UInt8) throws {
        let format = try #require(Self.format(.nv12))
        var random = SystemRandomNumberGenerator()
        let picture = (0..<format.minimumLengths[0]).map { _ in UInt8.random(in: 0...255, using: &random) }
        var seen = picture
        seen[seen.count - 1] ^= difference
        #expect(Self.isSame(format, picture, seen) == (difference == 0))
    }

    @Test(
        "of packed 4:2:2 the luma is the same, and chroma near the mean of two rows",
        arguments: [PixelFormat.yuyv, .uyvy])
    func packed(_ pixelFormat: PixelFormat) throws {
        let format = try #require(Self.format(pixelFormat))
        let first = pixelFormat == .yuyv ? 0 : 1
        // Luma rises, Cb is 100 and 103 in turn, Cr 200.
        var picture = [UInt8](repeating: 0, count: format.minimumLengths[0])
        for row in 0..<4 {
            for column in 0..<16 {
                let place = row * 32 + column * 2
                picture[place + first] = UInt8(row * 16 + column)
                picture[place + 1 - first] = column % 2 == 1 ? 200 : row % 2 == 0 ? 100 : 103
            }
        }
        let luma = (0..<64).map { UInt8($0) }
        func seen(_ blue: UInt8, _ red: UInt8 = 200) -> [UInt8] {
            luma + (0..<32).map { $0 % 2 == 0 ? blue : red }
        }
        #expect(Self.isSame(format, picture, seen(102)))
        #expect(Self.isSame(format, picture, seen(103)), "one level off in every other sample")
        #expect(!Self.isSame(format, picture, seen(104)), "two levels are one on average")
        #expect(!Self.isSame(format, picture, seen(200, 102)), "Cb and Cr are not exchanged")
        var single = seen(102)
        single[64] = 104
        #expect(Self.isSame(format, picture, single))
        single[64] = 105
        #expect(!Self.isSame(format, picture, single), "three levels, once")
        var brighter = seen(102)
        brighter[63] += 1
        #expect(!Self.isSame(format, picture, brighter))
    }

    private static func format(_ pixelFormat: PixelFormat) -> PictureFormat? {
        guard let size else { return nil }
        return FrameRate(30).flatMap {
            PictureFormat(
                pixelFormat, size: size, frameRate: $0, color: ColorEncoding(range: .limited, matrix: .bt601))
        }
    }

    @Test("a grey picture says little")
    func grey() throws {
        let format = try #require(Self.format(.nv12))
        let grey = [UInt8](repeating: 128, count: format.minimumLengths[0])
        #expect(Self.result(format, grey, grey) == .same(isTelling: false))
        var telling = grey
        (telling[0], telling[64], telling[65]) = (16, 100, 200)
        #expect(Self.result(format, telling, telling) == .same(isTelling: true))
    }

    private static func isSame(_ format: PictureFormat, _ picture: [UInt8], _ seen: [UInt8]) -> Bool {
        result(format, picture, seen) != .different
    }

    /// - Parameter seen: NV12 without padding.
    private static func result(
        _ format: PictureFormat, _ picture: [UInt8], _ seen: [UInt8]
    ) -> SharedComparison.Result {
        var seen = seen
        return picture.withUnsafeBytes { bytes in
            let planes = format.planes.map {
                UnsafeRawBufferPointer(rebasing: bytes[$0.offset..<$0.offset + $0.length])
            }
            return seen.withUnsafeMutableBufferPointer { seen in
                guard let start = seen.baseAddress else { return .different }
                let width = format.size.width
                var comparison = SharedComparison(format, planes)
                return comparison.result(
                    of: SurfaceWriter.Planes(
                        luma: PictureSurface.Plane(start, stride: width),
                        chroma: PictureSurface.Plane(start + width * format.size.height, stride: width)))
            }
        }
    }
}
