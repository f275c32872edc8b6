import CamPictures
import TestSupport
import CamPlatform

@testable import Capture

/// Pictures that no encoder can get right by luck: a still and noise that switch at random moments, by seed.
final class Scenes {
    let format: PictureFormat
    private let pool: PixelBufferPool
    private let stillness: [UInt8]
    private var generator: SeededGenerator
    private var isNoise = false
    private var framesLeft = 0

    /// - Parameter noiseOnly: every picture is noise.
    init(seed: UInt64, width: Int = 128, height: Int = 96, framesPerSecond: Int = 30, noiseOnly: Bool = false)
        throws
    {
        let color = ColorEncoding(range: .limited, matrix: .bt601)
        format = PictureFormat(
            .nv12, size: PictureSize(width, height)!, frameRate: FrameRate(framesPerSecond)!, color: color)!
        pool = try .allocated(count: 1, length: format.minimumLengths[0])
        generator = SeededGenerator(seed: seed)
        stillness = generator.bytes(format.minimumLengths[0]).enumerated().map { index, byte in
            // A texture with some edges.
            let (column, row) = (index % width, index / width)
            let edge = row % 24 < 3 ? 40 : 0
            return UInt8(96 + column / 4 + Int(byte) % 16 + edge)
        }
        self.noiseOnly = noiseOnly
    }

    private let noiseOnly: Bool

    /// The next picture. The previous one must have been destroyed, because they share memory.
    func next(timestamp: Instant) -> PixelBuffer {
        if framesLeft == 0 {
            isNoise.toggle()
            framesLeft = Int.random(in: 3...90, using: &generator)
        }
        framesLeft -= 1
        let memory = pool.memory(ofBuffer: 0, plane: 0)
        if isNoise || noiseOnly {
            for offset in stride(from: 0, to: memory.count - 7, by: 8) {
                memory.storeBytes(of: generator.next(), toByteOffset: offset, as: UInt64.self)
            }
        } else {
            memory.copyBytes(from: stillness)
        }
        var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
        payloads[0].length = format.minimumLengths[0]
        return PixelBuffer(
            pool: pool, index: 0, payloads: payloads, format: format, sequence: 0, timestamp: timestamp)
    }
}
