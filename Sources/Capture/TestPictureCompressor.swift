import CYUV
import Glibc
import CamPictures
import CamPlatform

/// Test pictures as Motion JPEG: drawn in RGB, then compressed into the stream's buffer.
///
/// Used only by the capture thread.
final class TestPictureCompressor {
    /// The format that the pattern is drawn in.
    let canvasFormat: PictureFormat
    private let canvas: UnsafeMutableRawBufferPointer
    /// To one row of chroma.
    private let lumaRows: Int32
    private var drawn: UInt32?

    /// - Parameter format: Motion JPEG is 4:2:2, as webcams have it; JPEG is 4:2:0.
    /// - Returns: nil if a picture does not fit into memory.
    init?(_ format: PixelFormat, size: PictureSize, frameRate: FrameRate) {
        lumaRows = format == .jpeg ? 2 : 1
        let color = ColorEncoding(range: .full, matrix: .bt601)
        guard let format = PictureFormat(.rgb24, size: size, frameRate: frameRate, color: color) else {
            return nil
        }
        canvasFormat = format
        guard let canvas = AlignedMemory.allocate(byteCount: format.minimumLengths[0]) else { return nil }
        self.canvas = canvas
    }

    deinit { free(canvas.baseAddress) }

    /// Room for any picture: apart from its headers, JPEG is hardly ever larger than RGB.
    var bufferLength: Int { canvasFormat.minimumLengths[0] + 4096 }

    /// Draws and compresses a frame.
    /// - Returns: its length in `memory` in bytes; 0 if it did not fit.
    func write(
        frame: UInt32, time: Instant?, of pattern: TestPattern, into memory: UnsafeMutableRawBufferPointer
    ) -> Int {
        pattern.draw(frame: frame, time: time, over: drawn, into: canvas)
        drawn = frame
        return cyuv_jpeg_encode(
            canvas.baseAddress, canvasFormat.planes[0].stride, Int32(canvasFormat.size.width),
            Int32(canvasFormat.size.height), lumaRows, memory.baseAddress, memory.count)
    }
}
