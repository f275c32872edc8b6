import Capture
import Encoder
import Foundation

/// Records the first 200 frames of a camera, or of the test picture, with a keyframe every 60.
///
///     swift run FirstFrames out.h264 [/dev/video0]
@main struct FirstFrames {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else { fatalError("usage: FirstFrames OUTPUT [CAMERA]") }
        let source: CameraSession.Source = arguments.count > 2 ? .device(arguments[2]) : .testPicture
        _ = FileManager.default.createFile(atPath: arguments[1], contents: nil)
        let output = try FileHandle(forWritingTo: URL(filePath: arguments[1]))

        let camera = try CameraSession(source, size: PictureSize(1280, 720), frameRate: FrameRate(30))
        var properties = CompressionProperties(codec: .h264)
        properties.rateControl.bitRate = 4_000_000
        properties.keyframeInterval = .frames(60)
        let session = try CompressionSession(for: camera.format, [properties])
        try camera.start()
        for _ in 0..<200 {
            guard let picture = try camera.next() else { break }
            try session.encode(picture) { unit in try output.write(contentsOf: unit.bytes) }
        }
        try session.finish { unit in try output.write(contentsOf: unit.bytes) }
        camera.stop()
    }
}
