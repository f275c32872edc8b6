import CV4L2
import Glibc

/// A YUV4MPEG2 file in place of a camera: 8-bit 4:2:0, 4:2:2, 4:4:4 or luma alone.
///
/// Frames are read straight into pool buffers, as fast as they are taken unless it is paced. The format is
/// described by the manual page yuv4mpeg(5) of mjpegtools.
public final class Y4MSource: CaptureStream {
    public let identity: SourceIdentity
    public let format: PictureFormat
    /// Never: a file waits.
    public var isLive: Bool { false }
    public var bufferCount: Int { pool.count }
    public private(set) var losses = CaptureLosses()
    public var interrupter: CaptureInterrupter { CaptureInterrupter(pool: pool) }

    private let path: String
    private let descriptor: Int32
    private let clock: any SourceClock
    private let pool: PixelBufferPool
    private var buffers: FreeBuffers
    private let isPaced: Bool
    private var start: Int64?
    private var nextFrame = 0

    /// Opens `path` and reads the stream header.
    public convenience init(path: String, request: CaptureRequest, isPaced: Bool) throws(CaptureError) {
        try self.init(path: path, request: request, isPaced: isPaced, clock: SystemClock())
    }

    init(
        path: String, request: CaptureRequest, isPaced: Bool, clock: any SourceClock
    ) throws(CaptureError) {
        let opened = cv4l2_open(path, O_RDONLY)
        guard opened >= 0 else { throw Self.openError(path, code: -opened) }
        do throws(CaptureError) {
            let line = try Self.readLine(opened, limit: 1024, path: path) ?? ""
            let header = try Y4MHeader(line, request: request, path: path)
            format = header.format
            pool = try .allocated(count: 2, length: header.format.minimumLengths[0])
        } catch {
            close(opened)
            throw error
        }
        descriptor = opened
        identity = SourceIdentity(device: path, name: "YUV4MPEG2 file")
        self.path = path
        self.clock = clock
        self.isPaced = isPaced
        buffers = FreeBuffers(pool: pool, clock: clock)
    }

    deinit { close(descriptor) }

    public func nextBuffer() throws(CaptureError) -> NextBuffer {
        let index = waitForFreeBuffer()
        guard let index, !pool.isInterrupted else { return .interrupted }
        guard let frameHeader = try readFrameHeader() else { return .end }
        guard frameHeader else {
            throw CaptureError(
                .badFile("frame \(nextFrame) has no FRAME header; is the file damaged?"), device: path)
        }
        try readPicture(into: pool.memory(ofBuffer: index, plane: 0))
        let timestamp = (start ?? 0) + format.frameRate.time(ofFrame: nextFrame)
        var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
        payloads[0].length = format.minimumLengths[0]
        defer { nextFrame += 1 }
        return .buffer(
            PixelBuffer(
                pool: pool, index: index, payloads: payloads, format: format,
                sequence: UInt32(truncatingIfNeeded: nextFrame), timestamp: timestamp))
    }

    public func stop() {}

    private func waitForFreeBuffer() -> Int? {
        let start = self.start ?? clock.now()
        self.start = start
        let due = isPaced ? start + format.frameRate.time(ofFrame: nextFrame) : start
        while !pool.isInterrupted {
            buffers.collect()
            if clock.now() < due {
                buffers.wait(until: due)
            } else if let index = buffers.take() {
                return index
            } else {
                buffers.wait(until: nil)
            }
        }
        return nil
    }

    /// Nil at the file's end; false where something else than a frame header stands there.
    private func readFrameHeader() throws(CaptureError) -> Bool? {
        // A frame header is FRAME, then parameters, which repeat what the stream header said, then a newline.
        var bytes = InlineArray<256, UInt8>(repeating: 0)
        var count = 0
        while count < 256 {
            var byte: UInt8 = 0
            let result = cv4l2_read(descriptor, &byte, 1)
            guard result >= 0 else { throw readError(Int32(-result)) }
            if result == 0 {
                if count == 0 { return nil }
                throw truncated()
            }
            if byte == 0x0a { break }
            bytes[count] = byte
            count += 1
        }
        guard count >= 5 else { return false }
        return bytes[0] == 0x46 && bytes[1] == 0x52 && bytes[2] == 0x41 && bytes[3] == 0x4d
            && bytes[4] == 0x45
            && (count == 5 || bytes[5] == 0x20) && count < 256
    }

    private func readPicture(into memory: UnsafeMutableRawBufferPointer) throws(CaptureError) {
        var filled = 0
        while filled < format.minimumLengths[0] {
            let result = cv4l2_read(
                descriptor, memory.baseAddress?.advanced(by: filled), format.minimumLengths[0] - filled)
            guard result >= 0 else { throw readError(Int32(-result)) }
            guard result > 0 else { throw truncated() }
            filled += result
        }
    }

    private func truncated() -> CaptureError {
        CaptureError(
            .badFile("the file ends in the middle of frame \(nextFrame); the frames before it were recorded"),
            device: path)
    }

    private func readError(_ code: Int32) -> CaptureError {
        CaptureError(.systemCallFailed("read", errno: code), device: path)
    }

    private static func openError(_ path: String, code: Int32) -> CaptureError {
        switch code {
        case ENOENT: CaptureError(.badFile("no such file; check its name"), device: path)
        case EACCES: CaptureError(.permissionDenied(group: nil), device: path)
        default: CaptureError(.systemCallFailed("open", errno: code), device: path)
        }
    }

    private static func readLine(_ descriptor: Int32, limit: Int, path: String) throws(CaptureError)
        -> String?
    {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            var byte: UInt8 = 0
            let result = cv4l2_read(descriptor, &byte, 1)
            guard result >= 0 else {
                throw CaptureError(.systemCallFailed("read", errno: Int32(-result)), device: path)
            }
            if result == 0 || byte == 0x0a { break }
            bytes.append(byte)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
