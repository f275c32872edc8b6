import Encoder
import CamConversion
import CamPictures
import TestSupport
import Testing
import CamPlatform

@testable import Capture
@testable import CamRecorder

/// One picture, from a source to a file's content.
@Suite struct SnapshotTakerTests {
    private let form = Snapshot.Form(.jpeg, isUTC: true, program: "camrec")

    private func testSource(_ format: PixelFormat, _ width: Int = 64, _ height: Int = 48) throws -> TestSource
    {
        let request = CaptureRequest(size: PictureSize(width, height)!, pixelFormat: format)
        return try TestSource(request, isPaced: false)
    }

    /// Grey pictures of a given brightness each.
    private func camera(_ lumas: [UInt8]) throws -> LumaStream { try LumaStream(lumas) }

    @Test("a camera's picture is taken once its exposure has settled")
    func settled() throws {
        let stream = try camera((0..<20).map { UInt8(16 + 5 * $0) } + Array(repeating: 120, count: 100))
        var taker = SnapshotTaker(form, settle: .seconds(10))
        _ = try taker.take(from: stream)
        #expect(taker.verdict == .settled)
        #expect((36...40).contains(taker.pictureCount), "\(taker.pictureCount)")
        #expect(stream.isStopped)
    }

    @Test("without patience, the first picture is taken")
    func first() throws {
        var taker = SnapshotTaker(form, settle: .zero)
        _ = try taker.take(from: try camera([16, 200, 16]))
        #expect(taker.pictureCount == 1)
    }

    @Test("a source that comes at once has nothing that settles")
    func atOnce() throws {
        var taker = SnapshotTaker(form, settle: .seconds(10))
        _ = try taker.take(from: try testSource(.nv12))
        #expect(taker.pictureCount == 1)
    }

    @Test("a camera's own JPEG is the file's, unless a quality is asked for")
    func own() throws {
        var taker = SnapshotTaker(form, settle: .zero)
        let own = try taker.take(from: try testSource(.mjpeg))
        #expect(own.isCamerasOwn && own.bytes.starts(with: [0xFF, 0xD8, 0xFF, 0xE1]))
        var quality = form
        quality.quality = 10
        taker = SnapshotTaker(quality, settle: .zero)
        let coded = try taker.take(from: try testSource(.mjpeg))
        #expect(!coded.isCamerasOwn && coded.bytes.count < own.bytes.count)
    }

    @Test("damaged pictures are skipped, and the next good one is taken")
    func damaged() throws {
        let stream = try DamagedStream(good: 5)
        var taker = SnapshotTaker(form, settle: .zero)
        let snapshot = try taker.take(from: stream)
        #expect(taker.pictureCount == 1 && stream.count == 6)
        #expect(snapshot.bytes.suffix(2) == [0xFF, 0xD9])
    }

    @Test("a camera that only sends damaged pictures is given up")
    func hopeless() throws {
        var taker = SnapshotTaker(form, settle: .zero)
        let stream = try DamagedStream(good: .max)
        #expect {
            try taker.take(from: stream)
        } throws: { error in
            guard case .allDamaged(SnapshotTaker.mostDamaged, _, _)? = error as? SnapshotError else {
                return false
            }
            return true
        }
    }

    @Test("a camera that disappears is an error, whatever came before", arguments: [0, 4])
    func unplugged(after count: Int) throws {
        let stream = try ScriptedStream([.pictures(count + 1), .fail(.lost)])
        stream.takesTimeToStart = true
        var taker = SnapshotTaker(form, settle: .seconds(60))
        #expect(throws: SnapshotError.capture(CaptureError(.lost, device: "scripted"))) {
            try taker.take(from: stream)
        }
        #expect(stream.isStopped)
    }

    @Test("every format that camrec reads becomes a JPEG and a PNG, of odd and the smallest sizes, too")
    func formats() throws {
        let formats: [PixelFormat] = [
            .nv12, .nv21, .nv16, .nv24, .yuv420, .yvu420, .yuv422Planar, .yuv444Planar, .yuyv, .uyvy, .yvyu,
            .rgb24,
            .bgr24, .bgrx32, .grey, .mjpeg,
        ]
        for format in formats where format == .mjpeg || TestPattern.canDraw(format) {
            for (width, height) in [(2, 2), (641, 31), (16, 16)] {
                for kind in Snapshot.Format.allCases {
                    var taker = SnapshotTaker(Snapshot.Form(kind, program: "camrec"), settle: .zero)
                    let snapshot = try taker.take(from: try testSource(format, width, height))
                    let signature: [UInt8] = kind == .jpeg ? [0xFF, 0xD8] : [0x89, 0x50, 0x4E, 0x47]
                    #expect(snapshot.bytes.starts(with: signature), "\(format) \(width)x\(height)")
                    #expect(snapshot.bytes.count > 100)
                }
            }
        }
    }

    @Test("a camera's own H.264 has no pictures to take")
    func passthrough() throws {
        let format = PictureFormat(
            .h264, size: PictureSize(64, 48)!, frameRate: FrameRate(30)!,
            color: ColorEncoding(range: .limited, matrix: .bt601))!
        #expect(throws: ConversionError.self) { try StillConverter(format) }
    }

    @Test("the time in the file is that of capture, by the wall clock")
    func time() throws {
        let clock = ScriptedTime(now: .start + .seconds(100), wallTime: WallTime(seconds: 1_700_000_000))
        var taker = SnapshotTaker(form, settle: .zero, clock: clock)
        // Pictures are captured from 99 s on.
        let snapshot = try taker.take(from: try LumaStream([50], from: .start + .seconds(99)))
        #expect(snapshot.time == WallTime(seconds: 1_699_999_999))
    }
}

/// A camera whose pictures have a given brightness each, 30 a second.
private final class LumaStream: CaptureStream {
    let identity = SourceIdentity(device: "scripted", name: "scripted camera")
    let format: PictureFormat
    let bufferCount = 4
    let isLive = true
    let takesTimeToStart = true
    let losses = CaptureLosses()
    private(set) var isStopped = false
    private let pool: PixelBufferPool
    private let first: Instant
    private let lumas: [UInt8]
    private var number = 0

    init(_ lumas: [UInt8], from first: Instant = .start) throws {
        (self.lumas, self.first) = (lumas, first)
        format = PictureFormat(
            .grey, size: PictureSize(32, 32)!, frameRate: FrameRate(30)!,
            color: ColorEncoding(range: .full, matrix: .bt601))!
        pool = try .allocated(count: 1, length: format.minimumLengths[0])
    }

    var interrupter: CaptureInterrupter { CaptureInterrupter(pool: pool) }

    func start() throws(CaptureError) {}

    func stop() { isStopped = true }

    func nextBuffer() throws(CaptureError) -> NextBuffer {
        guard number < lumas.count else { return .end }
        pool.memory(ofBuffer: 0, plane: 0).initializeMemory(as: UInt8.self, repeating: lumas[number])
        var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
        payloads[0].length = format.minimumLengths[0]
        defer { number += 1 }
        return .buffer(
            PixelBuffer(
                pool: pool, index: 0, payloads: payloads, format: format, sequence: UInt32(number),
                timestamp: first + .seconds(Double(number) / 30)))
    }
}

/// A camera that sends Motion JPEG, cut off in the middle until the picture with a given number.
private final class DamagedStream: CaptureStream {
    let identity = SourceIdentity(device: "scripted", name: "scripted camera")
    let bufferCount = 4
    let isLive = true
    let takesTimeToStart = true
    let losses = CaptureLosses()
    private(set) var count = 0
    private let source: TestSource
    private let pool: PixelBufferPool
    private let good: Int

    init(good: Int) throws {
        self.good = good
        let request = CaptureRequest(size: PictureSize(320, 240)!, pixelFormat: .mjpeg)
        source = try TestSource(request, isPaced: false)
        pool = try .allocated(count: 1, length: 1 << 20)
    }

    var format: PictureFormat { source.format }

    var interrupter: CaptureInterrupter { source.interrupter }

    func start() throws(CaptureError) {}

    func stop() {}

    func nextBuffer() throws(CaptureError) -> NextBuffer {
        defer { count += 1 }
        guard case .buffer(let picture) = try source.nextBuffer() else { return .end }
        let memory = pool.memory(ofBuffer: 0, plane: 0)
        memory.copyMemory(from: picture.payload)
        var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
        payloads[0].length = count < good ? picture.payload.count / 2 : picture.payload.count
        return .buffer(
            PixelBuffer(
                pool: pool, index: 0, payloads: payloads, format: format, sequence: picture.sequence,
                timestamp: picture.timestamp))
    }
}
