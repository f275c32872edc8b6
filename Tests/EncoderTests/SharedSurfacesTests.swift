import Testing

@testable import Encoder
@testable import CamPictures

/// A GPU's memory for a camera, as far as that needs no GPU.
@Suite struct SharedSurfacesTests {
    /// A render node that no machine has.
    private static func request() -> EncoderRequest {
        var request = EncoderRequest()
        request.renderNode = "/dev/null/renderD128"
        return request
    }

    private static func surfaces() throws -> SharedSurfaces {
        try #require(SharedSurfaces(request(), codecs: [.h264]))
    }

    private static func format(
        _ pixelFormat: PixelFormat = .nv12, _ width: Int = 128, _ height: Int = 96
    ) throws -> PictureFormat {
        try Film(pixelFormat, width, height).format
    }

    @Test("nothing is shared with software, or if that is not wanted")
    func unwanted() {
        var request = Self.request()
        request.preference = .software
        #expect(SharedSurfaces(request, codecs: [.h264]) == nil)
        request.preference = .auto
        request.zeroCopy = .off
        #expect(SharedSurfaces(request, codecs: [.h264]) == nil)
    }

    @Test("without a GPU no format is read, and the camera has its own memory")
    func noGPU() throws {
        let (surfaces, format) = (try Self.surfaces(), try Self.format())
        #expect(!surfaces.isOver, "not before it is known")
        #expect(!surfaces.reads(format) && surfaces.makeBuffers(for: format, count: 2) == nil)
        #expect(surfaces.isOver && !surfaces.hasHung)
        #expect(try surfaces.connection(to: "/dev/null/renderD128") == nil)
        #expect(surfaces.record.refusal == nil && surfaces.record.outcome == nil)
    }

    @Test("what is given up stays so, and no driver is started to look")
    func givenUp() throws {
        let surfaces = try Self.surfaces()
        surfaces.giveUp("software encodes")
        #expect(surfaces.isOver && surfaces.record.refusal == "software encodes")
        #expect(try !surfaces.reads(Self.format()))
        surfaces.settle()
    }

    @Test(
        "pictures in the order of their rows, of even size, in three formats can be shared",
        arguments: [PixelFormat.nv12, .yuyv, .uyvy])
    func shareable(pixelFormat: PixelFormat) throws {
        #expect(try Self.format(pixelFormat).isShareable)
        #expect(try !Self.format(pixelFormat, 128, 95).isShareable)
        let even = try Self.format(pixelFormat)
        let fields = PictureFormat(
            pixelFormat, size: even.size, frameRate: even.frameRate, color: even.color, firstField: .top)
        #expect(fields?.isShareable == false)
    }

    @Test("other formats cannot be shared", arguments: [PixelFormat.mjpeg, .yuv420, .nv21])
    func unshareable(pixelFormat: PixelFormat) throws {
        #expect(try !Self.format(pixelFormat).isShareable)
    }

    @Test("only drivers whose conversion was compared convert unasked")
    func proven() {
        #expect(SharedConversion.isProven("Intel iHD driver for Intel(R) Gen Graphics - 23.1.1 ()"))
        #expect(!SharedConversion.isProven("Mesa Gallium driver 25.0.7-2 for AMD Radeon Graphics"))
    }
}
