import Capture
import Encoder
import Foundation

/// Sends H.265 to a TCP receiver until the receiver goes away, with a keyframe every 30 frames. The IDR of frame 10 is
/// an extra one.
///
///     swift run Sender 127.0.0.1 5000 [/dev/video0]
@main struct Sender {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 2, let port = UInt16(arguments[2]) else {
            fatalError("usage: Sender ADDRESS PORT [CAMERA]")
        }
        let receiver = try connect(to: arguments[1], port)
        let source: CameraSession.Source = arguments.count > 3 ? .device(arguments[3]) : .testPicture
        let camera = try CameraSession(source, size: PictureSize(640, 480), frameRate: FrameRate(30))
        var properties = CompressionProperties(codec: .hevc)
        properties.keyframeInterval = .frames(30)
        let session = try CompressionSession(for: camera.format, [properties])
        try camera.start()
        var number = 0
        while let picture = try camera.next() {
            try session.encode(picture, forcingKeyframe: number == 10) { unit in
                try receiver.write(contentsOf: unit.bytes)
            }
            number += 1
        }
    }

    private static func connect(to host: String, _ port: UInt16) throws -> FileHandle {
        signal(SIGPIPE, SIG_IGN)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let result = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw CocoaError(.fileWriteUnknown) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
