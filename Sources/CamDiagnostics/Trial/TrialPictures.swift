import Capture
import CamPictures
import CamPlatform

/// The pictures of an encoder trial: a moving texture with new noise in every picture, so that they can use
/// up any bit rate. Each can be regenerated, to compare it with the decoded one.
struct TrialPictures {
    let format: PictureFormat
    private let pool: PixelBufferPool
    private let width: Int
    private let height: Int
    /// Random bytes for a picture's size and one more row.
    private let texture: [UInt8]

    /// Luma samples between a picture's texture and the next one's.
    private static let step = 3
    /// The offset, a prime, at which each picture's noise begins relative to the previous one's.
    private static let noiseStep = 7919

    init(size: PictureSize, frameRate: FrameRate) throws(CaptureError) {
        guard
            let format = PictureFormat(
                .nv12, size: size, frameRate: frameRate, color: ColorEncoding(range: .limited, matrix: .bt709)
            )
        else { throw CaptureError(.unsupported("no NV12 pictures of \(size)"), device: "the trial") }
        self.format = format
        (width, height) = (size.width, size.height)
        pool = try .forSource(count: 1, length: format.minimumLengths[0])
        // xorshift32 (Marsaglia 2003).
        var state: UInt32 = 2_463_534_242
        texture = (0..<(width * height + width)).map { _ in
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }

    /// Returns a picture for an encoder. The previous one must have been destroyed.
    func buffer(_ number: Int) -> PixelBuffer {
        let memory = pool.memory(ofBuffer: 0, plane: 0)
        drawLuma(number, into: memory)
        memory[(width * height)...].initializeMemory(as: UInt8.self, repeating: 128)
        var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
        payloads[0] = PixelBuffer.Payload(length: format.minimumLengths[0])
        return PixelBuffer(
            pool: pool, index: 0, payloads: payloads, format: format, sequence: UInt32(number),
            timestamp: .start + format.frameRate.time(ofFrame: number))
    }

    /// Draws a picture's luma samples, row after row, into memory with room for them.
    func drawLuma(_ number: Int, into picture: UnsafeMutableRawBufferPointer) {
        let noise = number * Self.noiseStep % (width * height)
        let shift = number * Self.step % (8 * width)
        texture.withUnsafeBufferPointer { texture in
            for row in 0..<height {
                for column in 0..<width {
                    let place = row * width + column
                    // Blocks of 16 of the texture, smooth within, and noise of 4 bits.
                    let block = (row / 16) * width + (column + shift) / 16
                    let grain = place + noise < texture.count ? place + noise : place + noise - texture.count
                    picture[place] = 48 + texture[block] / 2 + texture[grain] / 16
                }
            }
        }
    }
}
