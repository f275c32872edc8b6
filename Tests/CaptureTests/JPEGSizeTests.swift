import CamPictures
import Testing

@testable import Capture

/// JPEGs of another size than the driver granted.
@Suite struct JPEGSizeTests {
    /// The beginning of a JPEG, up to its frame header.
    private func jpeg(_ width: Int, _ height: Int, factors: UInt8 = 0x22) -> [UInt8] {
        let comment: [UInt8] = [0xFF, 0xFE, 0, 6, 0xFF, 0xC0, 0, 4]
        let frame: [Int] = [0xC0, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255, 3]
        let components: [UInt8] = [1, factors, 0, 2, 0x11, 1, 3, 0x11, 1]
        let start: [UInt8] = [0xFF, 0xD8] + comment + [0xFF]
        return start + frame.map { UInt8($0) } + components
    }

    private func header(_ bytes: [UInt8]) -> JPEGHeader? { bytes.withUnsafeBytes { JPEGHeader($0) } }

    private func camera(_ sizes: [(Int, Int)]) throws -> CameraStream {
        let device = ScriptedDevice(sizes.map { .frame(.init(bytes: jpeg($0, $1))) })
        device.formats = [.init(pixelFormat: .mjpeg, sizes: [(1920, 1080)])]
        device.strides = [0]
        return try device.stream()
    }

    @Test("reads size and MCU from the frame header, past other segments and fill bytes")
    func reads() {
        #expect(
            header(jpeg(1920, 1088))
                == JPEGHeader(size: PictureSize(1920, 1088)!, unitWidth: 16, unitHeight: 16))
        #expect(
            header(jpeg(640, 480, factors: 0x21))
                == JPEGHeader(size: PictureSize(640, 480)!, unitWidth: 16, unitHeight: 8))
    }

    @Test("refuses a header cut short anywhere")
    func short() {
        let whole = jpeg(640, 480)
        for count in whole.indices { #expect(header(Array(whole[..<count])) == nil) }
        #expect(header([0xFF, 0xD8, 0xFF, 0xD9, 0, 0]) == nil)
        #expect(header(jpeg(0, 480)) == nil)
    }

    @Test("accepts a picture larger by less than an MCU")
    func cropped() throws {
        let stream = try camera(Array(repeating: (1920, 1088), count: 8))
        let format = stream.format
        for _ in 0..<8 { _ = try stream.nextSequence() }
        #expect(stream.format === format)
    }

    @Test("rejects a picture larger by an MCU or more, or smaller")
    func notCropped() throws {
        let granted = try #require(PictureSize(1920, 1080))
        let sizes = [(1920, 1080), (1935, 1095), (1936, 1080), (1920, 1096), (1919, 1080), (1920, 1079)]
        let held = sizes.map { header(jpeg($0, $1))?.holds(granted) }
        #expect(held == [true, true, false, false, false, false])
    }

    @Test("a steady other size is a permanent change of format")
    func steady() throws {
        let stream = try camera(Array(repeating: (1600, 1200), count: 8))
        let granted = stream.format
        var formats: [PictureFormat] = []
        for _ in 0..<8 {
            switch try stream.nextBuffer() {
            case .buffer(let buffer): formats.append(buffer.format)
            case .end: Issue.record("no picture")
            case .interrupted: Issue.record("no picture")
            }
        }
        #expect(formats.prefix(4).allSatisfy { $0 === granted })
        #expect(formats[4].size == PictureSize(1600, 1200))
        #expect(formats[4].frameRate == granted.frameRate)
        #expect(formats[4...].allSatisfy { $0 === formats[4] })
        #expect(stream.format === formats[4])
    }

    @Test("sizes that come and go are damaged pictures")
    func unsteady() throws {
        let five = [(640, 480), (640, 480), (656, 480), (640, 480), (1920, 1080)]
        let stream = try camera(five + five + five + five)
        let format = stream.format
        for _ in 0..<20 { _ = try stream.nextSequence() }
        #expect(stream.format === format)
    }
}
