import CV4L2
import CamPictures
import CamPlatform
import Glibc

/// A YUV4MPEG2 file instead of a camera: 8-bit 4:2:0, 4:2:2, 4:4:4 or luma only.
///
/// Frames are read straight into pool buffers, as fast as they are taken unless it is paced. The manual page
/// yuv4mpeg(5) of mjpegtools describes the format.
public final class Y4MSource: CaptureStream {
    public let identity: SourceIdentity
    public let format: PictureFormat
    /// Always false: a file waits.
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
    private var startTime: Instant?
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
            pool = try .forSource(count: 2, length: header.format.minimumLengths[0])
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
        guard let index = waitForFreeBuffer() else { return .interrupted }
        do throws(CaptureError) {
            guard try readFrameHeader() else {
                if pool.isInterrupted { return .interrupted }
                guard nextFrame > 0 else {
                    throw CaptureError(.badFile("it has no frames"), device: path)
                }
                return .end
            }
            try readPicture(into: pool.memory(ofBuffer: index, plane: 0))
        } catch {
            // A pipe was abandoned in the middle of a frame because the end was requested.
            if pool.isInterrupted { return .interrupted }
            throw error
        }
        let timestamp = (startTime ?? .start) + format.frameRate.time(ofFrame: nextFrame)
        var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
        payloads[0].length = format.minimumLengths[0]
        defer { nextFrame += 1 }
        return .buffer(
            PixelBuffer(
                pool: pool, index: index, payloads: payloads, format: format,
                sequence: UInt32(truncatingIfNeeded: nextFrame), timestamp: timestamp))
    }

    public func start() {}

    public func stop() {}

    private func waitForFreeBuffer() -> Int? {
        let startTime = self.startTime ?? clock.now
        self.startTime = startTime
        let due = isPaced ? startTime + format.frameRate.time(ofFrame: nextFrame) : startTime
        while !pool.isInterrupted {
            buffers.collect()
            if clock.now < due {
                buffers.wait(until: due)
            } else if let index = buffers.take() {
                return index
            } else {
                buffers.wait(until: nil)
            }
        }
        return nil
    }

    /// Reads `FRAME`, parameters that repeat the stream header, and a newline.
    /// - Returns: false at the end.
    private func readFrameHeader() throws(CaptureError) -> Bool {
        var header = InlineArray<6, UInt8>(repeating: 0)
        let count = try withUnsafeMutableBytes(of: &header) { (bytes) throws(CaptureError) in
            try read(into: bytes)
        }
        if count == 0 { return false }
        guard count == 6 else { throw truncated() }
        let keyword: InlineArray<5, UInt8> = [0x46, 0x52, 0x41, 0x4d, 0x45]
        let isFrame = keyword.indices.allSatisfy { header[$0] == keyword[$0] }
        if isFrame, header[5] == 0x0a { return true }
        guard isFrame, header[5] == 0x20, try skipLine(limit: 250) else {
            throw CaptureError(
                .badFile("frame \(nextFrame) has no FRAME header"), device: path)
        }
        return true
    }

    /// Reads to the end of the line. Returns whether it ended within `limit` bytes.
    private func skipLine(limit: Int) throws(CaptureError) -> Bool {
        for _ in 0..<limit {
            var byte: UInt8 = 0
            let count = try withUnsafeMutableBytes(of: &byte) { (bytes) throws(CaptureError) in
                try read(into: bytes)
            }
            guard count == 1 else { throw truncated() }
            if byte == 0x0a { return true }
        }
        return false
    }

    private func readPicture(into memory: UnsafeMutableRawBufferPointer) throws(CaptureError) {
        let picture = UnsafeMutableRawBufferPointer(rebasing: memory[..<format.minimumLengths[0]])
        guard try read(into: picture) == picture.count else { throw truncated() }
    }

    /// Fills `bytes`.
    /// - Returns: the number of bytes read, fewer at the file's end or after a cancellation.
    private func read(into bytes: UnsafeMutableRawBufferPointer) throws(CaptureError) -> Int {
        var filled = 0
        while filled < bytes.count, waitForData() {
            let result = cv4l2_read(descriptor, bytes.baseAddress?.advanced(by: filled), bytes.count - filled)
            guard result >= 0 else {
                throw CaptureError(.systemCallFailed("read", errno: Int32(-result)), device: path)
            }
            if result == 0 { break }
            filled += result
        }
        return filled
    }

    /// Waits for input: a named pipe may be empty for long.
    /// - Returns: false once the stream is interrupted.
    private func waitForData() -> Bool {
        while !pool.isInterrupted {
            var descriptors: InlineArray<2, pollfd> = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: pool.wakeDescriptor, events: Int16(POLLIN), revents: 0),
            ]
            let result = withUnsafeMutableBytes(of: &descriptors) {
                clock.poll($0.assumingMemoryBound(to: pollfd.self), until: nil)
            }
            if result < 0 || descriptors[0].revents != 0 { return true }
            buffers.collect()
        }
        return false
    }

    private func truncated() -> CaptureError {
        CaptureError(
            .badFile("the file ends in the middle of frame \(nextFrame)"),
            device: path)
    }

    private static func openError(_ path: String, code: Int32) -> CaptureError {
        switch code {
        case ENOENT: CaptureError(.noFile, device: path)
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
            if -result == EISDIR { throw CaptureError(.badFile("it is a folder"), device: path) }
            guard result >= 0 else {
                throw CaptureError(.systemCallFailed("read", errno: Int32(-result)), device: path)
            }
            if result == 0 || byte == 0x0a {
                if bytes.last == 0x0d { bytes.removeLast() }
                return String(validating: bytes, as: UTF8.self)
            }
            bytes.append(byte)
        }
        throw CaptureError(.badFile("its first line is longer than \(limit) bytes"), device: path)
    }
}

// MARK: The header

/// The first line of a YUV4MPEG2 file.
struct Y4MHeader {
    let format: PictureFormat

    /// A file cannot be changed: requesting another size or format is an error. Another rate replaces the
    /// file's.
    init(_ line: String, request: CaptureRequest, path: String) throws(CaptureError) {
        func bad(_ detail: String) -> CaptureError { CaptureError(.badFile(detail), device: path) }
        let fields = line.split(separator: " ")
        guard fields.first == "YUV4MPEG2" else {
            throw bad("not a YUV4MPEG2 file, as made by 'ffmpeg -i VIDEO -pix_fmt yuv420p out.y4m'")
        }
        var (width, height) = (0, 0)
        var rate = FrameRate(25)
        var chroma: Substring = "420jpeg"
        var interlacing: Substring = "p"
        var aspect: PixelAspect?
        var range = ColorEncoding.Range.limited
        for field in fields.dropFirst() {
            let value = field.dropFirst()
            switch field.first {
            case "W": width = Int(value) ?? 0
            case "H": height = Int(value) ?? 0
            case "F": rate = Self.rate(value)
            case "C": chroma = value
            case "I": interlacing = value
            case "A": aspect = Self.aspect(value)
            case "X" where value == "COLORRANGE=FULL": range = .full
            default: break
            }
        }
        guard let size = PictureSize(width, height) else {
            throw bad("its size of \(width)x\(height) is outside 1 to \(PictureSize.maximumSide)")
        }
        guard let rate else { throw bad("its frame rate is not a positive fraction") }
        if let wanted = request.size, wanted != size {
            throw CaptureError(
                .unsupported("the file's pictures are \(size); leave out --size"), device: path)
        }
        guard let pixelFormat = Self.pixelFormat(chroma) else {
            throw bad("its format 'C\(chroma)' is not supported; convert it to 8-bit 4:2:0, 4:2:2 or 4:4:4")
        }
        if let wanted = request.pixelFormat, wanted != pixelFormat {
            throw CaptureError(
                .unsupported("the file's format is \(pixelFormat); leave out --format"), device: path)
        }
        let color = ColorEncoding(range: range, matrix: height >= 720 ? .bt709 : .bt601)
        guard
            let format = PictureFormat(
                pixelFormat, size: size, frameRate: request.frameRate ?? rate, color: color,
                chromaSiting: Self.chromaSiting(chroma), pixelAspect: aspect,
                isInterlaced: !["p", "?"].contains(interlacing))
        else { throw bad("its pictures do not fit into memory") }
        self.format = format
    }

    /// `30:1`; 0:0 means unknown, for which 25 is used.
    private static func rate(_ text: Substring) -> FrameRate? {
        let parts = text.split(separator: ":").compactMap { Int($0) }
        guard parts.count == 2 else { return nil }
        return parts == [0, 0] ? FrameRate(25) : FrameRate(parts[0], parts[1])
    }

    /// `10:11`; 0:0 means unknown.
    private static func aspect(_ text: Substring) -> PixelAspect? {
        let parts = text.split(separator: ":").compactMap { Int($0) }
        return parts.count == 2 ? PixelAspect(parts[0], parts[1]) : nil
    }

    /// Returns nil for the pixel format's default.
    private static func chromaSiting(_ chroma: Substring) -> ChromaSiting? {
        switch chroma {
        case "420", "420jpeg": .center
        case "420paldv": .topLeft
        default: nil
        }
    }

    /// The supported pixel formats.
    static let pixelFormats: [PixelFormat] = [.yuv420, .yuv422Planar, .yuv444Planar, .grey]

    private static func pixelFormat(_ chroma: Substring) -> PixelFormat? {
        switch chroma {
        case "420", "420jpeg", "420mpeg2", "420paldv": .yuv420
        case "422": .yuv422Planar
        case "444": .yuv444Planar
        case "mono": .grey
        default: nil
        }
    }
}
