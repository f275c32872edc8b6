import CYUV
import CamPictures
import CamPlatform
import Glibc

/// A camera for machines without one: a moving pattern with the frame's number and, if it is live, the time
/// of capture, at any size and rate, in any format that camrec reads itself.
public final class TestSource: CaptureStream {
    public let identity = SourceIdentity(device: TestSource.name, name: "test picture")
    public let format: PictureFormat
    public let isLive: Bool
    public var bufferCount: Int { pool.count }
    public private(set) var losses = CaptureLosses()
    public var interrupter: CaptureInterrupter { CaptureInterrupter(pool: pool) }

    private let clock: any SourceClock
    private let pool: PixelBufferPool
    private var buffers: FreeBuffers
    private let pattern: TestPattern
    /// The compressor for Motion JPEG; nil for other formats.
    private let compressor: TestPictureCompressor?
    /// The frame whose pattern a buffer still holds.
    private var drawn: [UInt32?]
    private var nextFrame = 0
    private var startTime: Instant?

    /// The name that selects it instead of a device's path.
    public static let name = "test"

    /// - Parameter isPaced: whether frames come in real time and are lost if they are not taken, as from a
    ///   camera; otherwise a frame comes whenever a buffer is free.
    public convenience init(_ request: CaptureRequest, isPaced: Bool) throws(CaptureError) {
        try self.init(request, isPaced: isPaced, clock: SystemClock())
    }

    init(_ request: CaptureRequest, isPaced: Bool, clock: any SourceClock) throws(CaptureError) {
        let size = request.size ?? .usual
        let rate = request.frameRate ?? .usual
        let pixelFormat = request.pixelFormat ?? .nv12
        try Self.refuse(pixelFormat)
        let isJPEG = pixelFormat.arrangement == .jpeg
        let color = ColorEncoding(range: isJPEG ? .full : .limited, matrix: .bt601)
        compressor = isJPEG ? TestPictureCompressor(pixelFormat, size: size, frameRate: rate) : nil
        guard !isJPEG || compressor != nil,
            let format = PictureFormat(pixelFormat, size: size, frameRate: rate, color: color)
        else {
            throw CaptureError(
                .unsupported("pictures of \(size) do not fit into memory; use a smaller --size"),
                device: Self.name)
        }
        self.format = format
        self.clock = clock
        isLive = isPaced
        pool = try .forSource(
            count: isPaced ? 10 : 2, length: compressor?.bufferLength ?? format.minimumLengths[0])
        buffers = FreeBuffers(pool: pool, clock: clock)
        pattern = TestPattern(format: compressor?.canvasFormat ?? format)
        drawn = Array(repeating: nil, count: pool.count)
    }

    /// Refuses a format that it does not produce.
    static func refuse(_ format: PixelFormat) throws(CaptureError) {
        guard format.arrangement != .jpeg, !TestPattern.canDraw(format) else { return }
        throw CaptureError(
            .unsupported("the test source has no \(format); try nv12, yuyv, rgb24 or mjpeg"), device: name)
    }

    public func nextBuffer() throws(CaptureError) -> NextBuffer {
        if isLive { waitForNextFrame() }
        while !pool.isInterrupted {
            if let index = buffers.take() { return .buffer(draw(into: index)) }
            if isLive {
                skipFrame()
            } else {
                buffers.wait(until: nil)
            }
        }
        return .interrupted
    }

    /// Continues with the next frame, however long it was stopped.
    public func start() {
        if startTime != nil { startTime = clock.now - format.frameRate.time(ofFrame: nextFrame) }
    }

    public func stop() {}

    private func waitForNextFrame() {
        let startTime = self.startTime ?? clock.now
        self.startTime = startTime
        let due = startTime + format.frameRate.time(ofFrame: nextFrame)
        while clock.now < due, !pool.isInterrupted {
            // Returned buffers must be taken out of the mailbox, or they would end every wait.
            buffers.collect()
            buffers.wait(until: due)
        }
    }

    /// Loses the current frame because all buffers are held, as a camera would.
    private func skipFrame() {
        losses.droppedByDriver += 1
        nextFrame += 1
        waitForNextFrame()
    }

    private func draw(into index: Int) -> PixelBuffer {
        let sequence = UInt32(truncatingIfNeeded: nextFrame)
        var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
        let timestamp = (startTime ?? .start) + format.frameRate.time(ofFrame: nextFrame)
        payloads[0].length = write(frame: sequence, time: isLive ? timestamp : nil, into: index)
        nextFrame += 1
        return PixelBuffer(
            pool: pool, index: index, payloads: payloads, format: format, sequence: sequence,
            timestamp: timestamp)
    }

    /// Draws a frame into a buffer, and returns the number of bytes written.
    private func write(frame: UInt32, time: Instant?, into index: Int) -> Int {
        let memory = pool.memory(ofBuffer: index, plane: 0)
        if let compressor { return compressor.write(frame: frame, time: time, of: pattern, into: memory) }
        pattern.draw(frame: frame, time: time, over: drawn[index], into: memory)
        drawn[index] = frame
        return format.minimumLengths[0]
    }
}

// MARK: Motion JPEG

/// Test pictures as Motion JPEG: drawn in RGB, then compressed into the stream's buffer.
///
/// Used only by the capture thread.
final class TestPictureCompressor {
    /// The format that the pattern is drawn in.
    let canvasFormat: PictureFormat
    private let canvas: UnsafeMutableRawBufferPointer
    /// The number of luma rows per row of chroma.
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

    /// The buffer length for any picture: apart from its headers, JPEG is hardly ever larger than RGB.
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
