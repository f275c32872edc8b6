import Glibc
import CamPictures
import Testing
import CamPlatform

@testable import Capture

/// YUV4MPEG2 files, valid and malicious.
@Suite struct Y4MTests {
    private func format(_ header: String, _ request: CaptureRequest = CaptureRequest()) throws
        -> PictureFormat
    {
        try Y4MHeader(header, request: request, path: "f.y4m").format
    }

    private func complaint(_ header: String, _ request: CaptureRequest = CaptureRequest()) -> CaptureError
        .Kind?
    {
        do {
            _ = try Y4MHeader(header, request: request, path: "f.y4m")
            return nil
        } catch {
            return error.kind
        }
    }

    // MARK: Header

    @Test("a header without parameters has the defaults of yuv4mpeg(5)")
    func defaults() throws {
        let format = try format("YUV4MPEG2 W640 H480")
        #expect(format.size == PictureSize(640, 480))
        #expect(format.frameRate == FrameRate(25))
        #expect(format.pixelFormat == .yuv420)
        #expect(!format.isInterlaced)
        #expect(format.color == ColorEncoding(range: .limited, matrix: .bt601))
    }

    @Test("reads the whole header: size, rate, interlacing, aspect, chroma, range")
    func everything() throws {
        let format = try format("YUV4MPEG2 W1920 H1080 F30000:1001 It A1:1 C422 XYSCSS=422 XCOLORRANGE=FULL")
        #expect(format.frameRate == FrameRate(30000, 1001))
        #expect(format.pixelFormat == .yuv422Planar)
        #expect(format.isInterlaced)
        #expect(format.color == ColorEncoding(range: .full, matrix: .bt709))
    }

    @Test(
        "each 8-bit chroma format has its own layout",
        arguments: [
            ("420", PixelFormat.yuv420), ("420jpeg", .yuv420), ("420mpeg2", .yuv420), ("420paldv", .yuv420),
            ("422", .yuv422Planar), ("444", .yuv444Planar), ("mono", .grey),
        ])
    func chroma(name: String, format expected: PixelFormat) throws {
        #expect(try format("YUV4MPEG2 W8 H8 C\(name)").pixelFormat == expected)
    }

    @Test(
        "refuses deeper formats, other subsampling and alpha, and says what to do",
        arguments: ["420p10", "411", "444alpha", "mono16", "444p16", ""])
    func otherChroma(name: String) {
        #expect(
            complaint("YUV4MPEG2 W8 H8 C\(name)")
                == .badFile(
                    "its format 'C\(name)' is not supported; convert it to 8-bit 4:2:0, 4:2:2 or 4:4:4"))
    }

    @Test(
        "places chroma where the header says",
        arguments: [
            ("420", ChromaSiting.center), ("420jpeg", .center), ("420mpeg2", .left), ("420paldv", .topLeft),
            ("422", .left),
            ("444", .center),
        ])
    func siting(name: String, expected: ChromaSiting) throws {
        #expect(try format("YUV4MPEG2 W8 H8 C\(name)").chromaSiting == expected)
    }

    @Test("reads the pixel aspect; square and unknown are the same")
    func aspect() throws {
        #expect(try format("YUV4MPEG2 W720 H480 A10:11").pixelAspect == PixelAspect(10, 11))
        for text in ["", " A1:1", " A0:0", " A7", " A-1:1", " A1:0", " A100:1"] {
            #expect(try format("YUV4MPEG2 W720 H480\(text)").pixelAspect == nil)
        }
    }

    @Test(
        "reads interlacing", arguments: [("p", false), ("?", false), ("t", true), ("b", true), ("m", true)])
    func interlacing(mode: String, isInterlaced: Bool) throws {
        #expect(try format("YUV4MPEG2 W8 H8 I\(mode)").isInterlaced == isInterlaced)
    }

    @Test("uses 25 for an unknown rate")
    func unknownRate() throws { #expect(try format("YUV4MPEG2 W8 H8 F0:0").frameRate == FrameRate(25)) }

    @Test(
        "refuses an impossible rate",
        arguments: [
            "F", "F0:1", "F1:0", "F-30:1", "F30", "F30:1:1", "F99999999999999999999:1", "F1:2147483647",
            "Fx:y",
        ])
    func badRate(field: String) {
        #expect(
            complaint("YUV4MPEG2 W8 H8 \(field)") == .badFile("its frame rate is not a positive fraction"))
    }

    @Test(
        "refuses an impossible size",
        arguments: ["W0 H8", "W8", "H8", "W-8 H8", "W16385 H8", "W8 H99999999999999999999", "Wx Hy", ""])
    func badSize(fields: String) {
        guard case .badFile(let detail)? = complaint("YUV4MPEG2 \(fields)") else {
            Issue.record("not refused")
            return
        }
        #expect(detail.hasSuffix("is outside 1 to 16384"))
    }

    @Test(
        "refuses a file that does not begin with YUV4MPEG2",
        arguments: ["", "YUV4MPEG", "YUV4MPEG22 W8 H8", "RIFF", " "])
    func magic(line: String) {
        guard case .badFile(let detail)? = complaint(line) else {
            Issue.record("not refused")
            return
        }
        #expect(detail.hasPrefix("not a YUV4MPEG2 file"))
    }

    @Test("refuses another size or format than the file's, and accepts another rate")
    func requests() throws {
        let header = "YUV4MPEG2 W640 H480 F25:1"
        #expect(
            complaint(header, CaptureRequest(size: PictureSize(320, 240)))
                == .unsupported("the file's pictures are 640x480; leave out --size"))
        #expect(
            complaint(header, CaptureRequest(pixelFormat: .nv12))
                == .unsupported("the file's format is YU12; leave out --format"))
        let request = CaptureRequest(
            size: PictureSize(640, 480), frameRate: FrameRate(50), pixelFormat: .yuv420)
        #expect(try format(header, request).frameRate == FrameRate(50))
    }

    // MARK: File

    private static let header = "YUV4MPEG2 W6 H4 F25:1 C420\n"
    private static let frameLength = 6 * 4 * 3 / 2

    private static func picture(_ number: Int) -> [UInt8] {
        (0..<frameLength).map { UInt8(truncatingIfNeeded: number * 41 + $0) }
    }

    private static func file(frames: Int, frameHeader: String = "FRAME\n") -> [UInt8] {
        Array(header.utf8) + (0..<frames).flatMap { Array(frameHeader.utf8) + picture($0) }
    }

    private func source(_ file: TemporaryFile, isPaced: Bool = false) throws -> Y4MSource {
        try Y4MSource(path: file.path, request: CaptureRequest(), isPaced: isPaced, clock: ScriptedClock())
    }

    /// The payloads of all frames, and how the file ended.
    private func read(_ bytes: [UInt8]) -> (frames: [[UInt8]], failure: CaptureError.Kind?) {
        let file = TemporaryFile(bytes)
        var frames: [[UInt8]] = []
        do {
            let source = try source(file)
            while true {
                switch try source.nextBuffer() {
                case .buffer(let buffer): frames.append(Array(buffer.payload))
                case .end: return (frames, nil)
                case .interrupted: return (frames, nil)
                }
            }
        } catch {
            return (frames, (error as? CaptureError)?.kind)
        }
    }

    @Test("delivers every frame, byte for byte, with its number and time")
    func frames() throws {
        let file = TemporaryFile(Self.file(frames: 5))
        let source = try source(file)
        var start: Instant?
        for number in 0..<5 {
            let picture = try source.hold()
            start = start ?? picture.timestamp
            #expect(picture.payload == Self.picture(number))
            #expect(picture.sequence == UInt32(number))
            #expect(picture.timestamp - (start ?? .start) == .milliseconds(40) * number)
        }
        #expect(try source.nextSequence() == nil)
        #expect(source.losses == CaptureLosses())
        #expect(!source.isLive)
    }

    @Test("skips parameters in a frame's header")
    func frameParameters() {
        let (frames, failure) = read(Self.file(frames: 2, frameHeader: "FRAME Ip XFOO=BAR\n"))
        #expect(frames == [Self.picture(0), Self.picture(1)])
        #expect(failure == nil)
    }

    @Test("refuses a file without frames")
    func empty() {
        #expect(read(Array(Self.header.utf8)).frames.isEmpty)
        #expect(read(Array(Self.header.utf8)).failure == .badFile("it has no frames"))
    }

    @Test("delivers a file cut off within a frame up to there, then fails")
    func truncated() {
        let whole = Self.file(frames: 2)
        let second = Self.header.utf8.count + 6 + Self.frameLength
        for length in [second + 1, second + 5, second + 6, second + 7, whole.count - 1] {
            let (frames, failure) = read(Array(whole.prefix(length)))
            #expect(frames == [Self.picture(0)])
            #expect(failure == .badFile("the file ends in the middle of frame 1"))
        }
        #expect(read(Array(whole.prefix(second))).failure == nil)
    }

    @Test("reads a header that ends early as far as it goes, or refuses it")
    func truncatedHeader() {
        for length in 0..<Self.header.utf8.count {
            let (frames, failure) = read(Array(Self.header.utf8.prefix(length)))
            #expect(frames.isEmpty)
            if length < "YUV4MPEG2 W6 H4".utf8.count { #expect(failure != nil) }
        }
    }

    @Test(
        "reports what is in the place of a frame's header",
        arguments: ["FRAMES\n", "frame\n", "FRA\n", "\n", "XXXXXXXXXXX\n"])
    func noFrameHeader(text: String) {
        let (frames, failure) = read(Self.file(frames: 1) + Array(text.utf8) + Self.picture(1))
        #expect(frames == [Self.picture(0)])
        #expect(failure == .badFile("frame 1 has no FRAME header"))
    }

    @Test("endless headers take bounded memory")
    func endlessHeaders() {
        let spaces = Array(repeating: UInt8(0x20), count: 100_000)
        #expect(read(Array("YUV4MPEG2".utf8) + spaces).failure != nil)
        let frame = read(Array(Self.header.utf8) + Array("FRAME".utf8) + spaces)
        #expect(frame.failure == .badFile("frame 0 has no FRAME header"))
    }

    @Test("refuses a header that is not text")
    func binary() {
        let (_, failure) = read(Array("YUV4MPEG2 W6 H4 ".utf8) + [0xff, 0xfe, 0x0a])
        #expect(failure != nil)
    }

    @Test("refuses a missing file and a folder")
    func missing() throws {
        func kind(_ path: String) -> CaptureError.Kind? {
            do {
                _ = try Y4MSource(path: path, request: CaptureRequest(), isPaced: false)
                return nil
            } catch {
                return error.kind
            }
        }
        #expect(kind("/tmp/camrec-no-such-file.y4m") == .noFile)
        #expect(kind("/tmp") == .badFile("it is a folder"))
    }

    @Test("a file waits for a slow reader: it loses nothing, however many pictures are held")
    func waits() throws {
        let file = TemporaryFile(Self.file(frames: 5))
        let clock = ScriptedClock()
        let source = try Y4MSource(
            path: file.path, request: CaptureRequest(), isPaced: false, clock: clock)
        let held = try (0..<source.bufferCount).map { _ in try source.hold() }
        clock.after(.seconds(3600)) { held[1].letGo() }
        #expect(try source.hold().payload == Self.picture(source.bufferCount))
        #expect(held[0].payload == Self.picture(0))
    }

    @Test("paced, delivers each frame at its time")
    func paced() throws {
        let file = TemporaryFile(Self.file(frames: 3))
        let clock = ScriptedClock()
        let source = try Y4MSource(path: file.path, request: CaptureRequest(), isPaced: true, clock: clock)
        let start = clock.now
        for number in 0..<3 {
            _ = try source.nextSequence()
            #expect(clock.now - start == .milliseconds(40) * number)
        }
    }

    @Test("a cancellation ends a wait for a buffer")
    func cancellation() throws {
        let file = TemporaryFile(Self.file(frames: 5))
        let clock = ScriptedClock()
        let source = try Y4MSource(
            path: file.path, request: CaptureRequest(), isPaced: false, clock: clock)
        let held = try (0..<source.bufferCount).map { _ in try source.hold() }
        let interrupter = source.interrupter
        clock.after(.nanoseconds(1)) { interrupter.interrupt() }
        #expect(try source.nextSequence() == nil)
        withExtendedLifetime(held) {}
    }
}
