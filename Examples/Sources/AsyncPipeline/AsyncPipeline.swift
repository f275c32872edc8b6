import Capture
import Encoder
import Foundation

/// Records a camera, or the test picture, with tasks: one encodes, another writes, and a third asks for a keyframe now and
/// then.
///
///     swift run AsyncPipeline out.h264 [/dev/video0]
@main struct AsyncPipeline {
    /// Whether the next picture becomes a keyframe.
    actor Wish {
        private var isOpen = false

        func make() { isOpen = true }

        func take() -> Bool {
            defer { isOpen = false }
            return isOpen
        }
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else { fatalError("usage: AsyncPipeline OUTPUT [CAMERA]") }
        let source: CameraSession.Source = arguments.count > 2 ? .device(arguments[2]) : .testPicture
        _ = FileManager.default.createFile(atPath: arguments[1], contents: nil)
        let output = try FileHandle(forWritingTo: URL(filePath: arguments[1]))

        let pictures = try CameraPictures(CameraSession(source, size: PictureSize(640, 480)))
        var properties = CompressionProperties(codec: .h264)
        properties.keyframeInterval = .frames(10_000)
        let session = try AsyncCompressionSession(CompressionSession(for: pictures.format, [properties]))
        let wish = Wish()
        let asking = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: .seconds(1))
                await wish.make()
            }
        }
        // If one of these fails, the other is canceled.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await unit in session.accessUnits { try output.write(contentsOf: unit.bytes) }
            }
            group.addTask {
                var iterator = pictures.makeAsyncIterator()
                for _ in 0..<100 {
                    guard let picture = try await iterator.next() else { break }
                    try await session.encode(picture, forcingKeyframe: wish.take())
                }
                try await session.finish()
            }
            try await group.waitForAll()
        }
        asking.cancel()
        print("\(pictures.dropped) pictures dropped")
    }
}
