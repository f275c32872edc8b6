import Bitstream
import CamPictures
import CamPlatform

@testable import Capture

/// Creates empty pictures, for tests that only look at their numbers.
final class Pictures: Sendable {
    let format: PictureFormat
    let pool: PixelBufferPool

    init(size: PictureSize = PictureSize(2, 2)!) throws {
        format = PictureFormat(
            .grey, size: size, frameRate: FrameRate(10)!,
            color: ColorEncoding(range: .limited, matrix: .bt601))!
        pool = try .allocated(count: 1, length: format.minimumLengths[0])
    }

    /// The picture with this number; ten come in a second.
    func picture(_ number: Int) -> PixelBuffer {
        picture(number, at: .start + .milliseconds(100) * number)
    }

    /// The picture with this number and time of capture.
    func picture(_ number: Int, at time: Instant) -> PixelBuffer {
        var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
        payloads[0].length = format.minimumLengths[0]
        return PixelBuffer(
            pool: pool, index: 0, payloads: payloads, format: format,
            sequence: UInt32(truncatingIfNeeded: number), timestamp: time)
    }
}

/// An access unit of one NAL unit.
func accessUnit(
    number: Int = 0, isIDR: Bool = true, sequence: UInt32 = 0, timestamp: Instant = .start, length: Int = 10
) -> AccessUnit {
    var builder = AccessUnitPool(codec: .h264).makeBuilder()
    let bytes = [isIDR ? 0x65 : 0x41] + Array(repeating: UInt8(0x55), count: length - 1)
    builder.append(bytes.span.bytes)
    return builder.finish(
        isIDR: isIDR, frameNumber: number, sequence: sequence, timestamp: timestamp)
}
