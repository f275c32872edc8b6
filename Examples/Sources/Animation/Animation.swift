import Containers
import Encoder

/// Renders an animation, a bright bar that moves over a dark background, into an `.mp4` file.
///
///     swift run Animation out.mp4
@main struct Animation {
    static func main() throws {
        guard CommandLine.arguments.count > 1, let size = PictureSize(640, 360), let rate = FrameRate(25),
            let format = PictureFormat(
                .nv12, size: size, frameRate: rate, color: ColorEncoding(range: .limited, matrix: .bt709))
        else { fatalError("usage: Animation OUTPUT.mp4") }
        var properties = CompressionProperties(codec: .h264)
        properties.rateControl.quality = 20
        let session = try CompressionSession(for: format, [properties])
        let file = try ContainerSink(
            path: CommandLine.arguments[1], format: .mp4,
            stream: StreamDescription(
                codec: .h264, width: size.width, height: size.height, frameRate: format.frameRate,
                reordering: session.renditions[0].stream.bFrames),
            overwrite: true)
        for number in 0..<100 {
            let picture = try PixelBuffer(
                filling: format, timestamp: .start + .milliseconds(40) * number
            ) { plane, memory in
                // Plane 1 has the colors, of which this animation has none.
                memory.initializeMemory(as: UInt8.self, repeating: 128)
                for row in 0..<(plane == 0 ? size.height : 0) {
                    for column in 0..<size.width {
                        let isBar = (column - number * 6 + size.width) % size.width < 40
                        memory[row * format.planes[0].stride + column] = isBar ? 235 : 32
                    }
                }
            }
            try session.encode(picture) { unit in try file.write(unit) }
        }
        try session.finish { unit in try file.write(unit) }
        try file.finish()
    }
}
