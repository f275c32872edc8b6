import CamPictures
import CamPlatform
import TestSupport
import Testing

@testable import Capture

@Suite("a camera's pictures for tasks", .hangGuard)
struct CameraPicturesTests {
    private static let size = 16 * 16 * 3 / 2

    /// A file whose pictures are filled with their number.
    private func file(_ count: Int) -> TemporaryFile {
        let pictures = (0..<count).map {
            Array("FRAME\n".utf8) + [UInt8](repeating: UInt8($0), count: Self.size)
        }
        return TemporaryFile(Array("YUV4MPEG2 W16 H16 F25:1\n".utf8) + pictures.joined())
    }

    private func camera(_ count: UInt32) throws -> CameraSession {
        let device = ScriptedDevice((0..<count).map { .frame(.init(sequence: $0)) })
        return CameraSession(try device.camera().makeStream(CaptureRequest()))
    }

    @Test("a file waits for the task, and loses nothing")
    func everything() async throws {
        let file = file(20)
        let pictures = try CameraPictures(CameraSession(.file(file.path)), limit: 1)
        var numbers: [UInt8] = []
        for try await picture in pictures { numbers.append(picture.buffer.payload[0]) }
        #expect(numbers == Array(0..<20))
        #expect(pictures.dropped == 0 && pictures.hasEnded)
    }

    @Test("a camera's pictures that come while others wait are dropped and counted, then its failure comes")
    func dropped() async throws {
        let pictures = try CameraPictures(camera(10))
        try #require(eventually { pictures.hasEnded })
        #expect(pictures.dropped == 8)
        var iterator = pictures.makeAsyncIterator()
        let first = [try await iterator.next(), try await iterator.next()]
        #expect(first.map { $0?.buffer.sequence } == [0, 1])
        await #expect(throws: CaptureError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test("the sequence ends when the camera is stopped")
    func stops() async throws {
        let pictures = try CameraPictures(
            CameraSession(.testPicture, size: PictureSize(64, 64), frameRate: FrameRate(30)))
        var iterator = pictures.makeAsyncIterator()
        #expect(try await iterator.next() != nil)
        pictures.stop()
        while try await iterator.next() != nil {}
        #expect(pictures.hasEnded)
    }

    @Test("a picture stays as long as a view of it")
    func view() async throws {
        let file = file(3)
        let pictures = try CameraPictures(CameraSession(.file(file.path)))
        var iterator = pictures.makeAsyncIterator()
        var shared = try await iterator.next()
        let view = try #require(shared).view
        shared = nil
        while try await iterator.next() != nil {}
        #expect(view.payload.count == Self.size && view.payload.allSatisfy { $0 == 0 })
    }
}
