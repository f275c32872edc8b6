import CamPictures
import TestSupport
import Testing
import CamPlatform

@testable import Encoder
@testable import CamRecorder
@testable import CamConversion

/// The whole way of a camera's pictures: converted for an encoder, seen in the thumbnails that this leaves behind.
@Suite struct MotionConversionTests {
    private let size = PictureSize(1280, 720)!

    /// A YUYV picture of rectangles, with noise.
    private func picture(light: Int, seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        let grain = (0..<4096).map { _ in UInt8.random(in: 0...12, using: &random) }
        var bytes = [UInt8](repeating: 128, count: size.area * 2)
        for row in 0..<size.height {
            let shift = Int.random(in: 0..<4096, using: &random)
            for column in 0..<size.width {
                let level = (40 + (column / 90 * 37 + row / 70 * 53) % 130) * light / 100
                bytes[2 * (row * size.width + column)] = UInt8(level) + grain[(column + shift) % 4096]
            }
        }
        return bytes
    }

    /// Converts and watches three seconds of pictures, with something in the second half of them.
    private func findings(_ scene: (Int) -> (picture: [UInt8], box: Int?)) throws -> [MotionDetector.Finding]
    {
        let format = PixelFormat.yuyv.layout(size.width, size.height)
        let converter = try PixelConverter(
            source: format, layout: .nv12, color: format.color, makesThumbnails: true)
        let memory = try PictureMemory(size, paddedTo: size, layout: .nv12)
        let pool = try PixelBufferPool.allocated(count: 1, length: format.minimumLengths[0])
        let detector = MotionDetector(WatchedPart(size))
        return try (0..<40).map { number in
            let (picture, box) = scene(number)
            let bytes = pool.memory(ofBuffer: 0, plane: 0)
            bytes.copyBytes(from: picture)
            if let box {
                for row in 300..<420 {
                    for column in box..<box + 60 { bytes[2 * (row * size.width + column)] = 210 }
                }
            }
            var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
            payloads[0].length = picture.count
            let buffer = PixelBuffer(
                pool: pool, index: 0, payloads: payloads, format: format, sequence: UInt32(number),
                timestamp: .start)
            try converter.convert(buffer, into: memory.surface)
            return detector.look(
                at: try #require(converter.thumbnail), time: .start + .milliseconds(100 * number))
        }
    }

    @Test("sees what moves, where it is, and nothing before")
    func moves() throws {
        let pictures = (0..<3).map { picture(light: 100, seed: UInt64($0 + 1)) }
        let seen = try findings { (pictures[$0 % 3], $0 < 20 ? nil : ($0 - 20) * 30 + 100) }
        #expect(seen[..<20].allSatisfy { $0 == .still })
        guard case .moving(let event) = seen[39] else {
            Issue.record("nothing is seen")
            return
        }
        // The box has up to a neighbourhood around the thing.
        #expect((210...300).contains(event.place.y))
        #expect((420...510).contains(event.place.y + event.place.height))
        #expect(event.start >= .start + .milliseconds(1900))
    }

    @Test("sees no motion when the light changes")
    func light() throws {
        let pictures = (0..<6).map { picture(light: $0 < 3 ? 100 : 60, seed: UInt64($0 + 1)) }
        #expect(try findings { (pictures[$0 % 3 + ($0 < 20 ? 0 : 3)], nil) }.allSatisfy { $0 == .still })
    }
}
