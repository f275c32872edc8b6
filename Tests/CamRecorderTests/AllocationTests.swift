import Bitstream
import CTestAllocations
import CamPlatform
import Glibc
import CamPictures
import TestSupport
import Testing

@testable import Capture
@testable import Encoder
@testable import CamRecorder
import CamStorage
import Containers
@testable import CamConversion

/// Our code allocates nothing between poll and write: a whole recording, counting each of its three threads
/// over many frames after a warm-up. libavcodec, which allocates internally, is left out: the encoder
/// converts each picture like the real one, and then finishes packets that libx264 made in advance.
@Suite(
    .enabled(if: allocations_can_be_counted(), "counts in optimized code without a sanitizer"),
    .hangGuard)
struct AllocationTests {
    /// The frames between which a thread's allocations count.
    static let window = 40..<140

    @Test("the counter sees what Swift and C allocate, on its own thread only")
    func counter() throws {
        var counts: [Int] = []
        allocations_begin()
        let folder = opendir("/")
        counts.append(Int(allocations_end()))
        allocations_begin()
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 100, alignment: 4096)
        counts.append(Int(allocations_end()))
        allocations_begin()
        let object = Unmanaged.passRetained(Progress())
        counts.append(Int(allocations_end()))
        allocations_begin()
        counts.append(Int(allocations_end()))
        // An object with a monitor, which has two separate allocations.
        #expect(counts == [1, 1, 4, 0])
        let other = Gate()
        let thread = WorkerThread {
            other.wait()
            free(malloc(1))
        }
        allocations_begin()
        other.open()
        thread?.join()
        #expect(allocations_end() == 0)
        memory.deallocate()
        closedir(try #require(folder))
        object.release()
    }

    @Test(
        "allocates nothing per frame for test pictures",
        arguments: [
            .nv12, .nv21, .yuv420, .yvu420, .yuv422Planar, .yuv444Planar, .yuyv, .uyvy, .yvyu, .rgb24, .bgr24,
            .bgrx32, .xrgb32, .grey,
        ] as [PixelFormat])
    func testPictures(format: PixelFormat) throws {
        try expectNone(
            TestSource(
                CaptureRequest(size: PictureSize(64, 48), pixelFormat: format), isPaced: false))
    }

    @Test("allocates nothing for odd sizes either, whose edge is repeated")
    func oddSize() throws {
        try expectNone(
            TestSource(CaptureRequest(size: PictureSize(63, 47), pixelFormat: .yuyv), isPaced: false))
    }

    @Test(
        "allocates nothing per frame for a camera",
        arguments: [.yuyv, .nv12MultiPlanar] as [PixelFormat])
    func camera(format: PixelFormat) throws {
        let stream = try Camera(path: "/dev/tireless", calls: TirelessDevice(format)).makeStream(
            CaptureRequest())
        try expectNone(stream)
    }

    @Test("allocates nothing per frame for a file")
    func file() throws {
        var template = Array("/tmp/camrec-test-XXXXXX.y4m".utf8CString)
        let descriptor = mkstemps(&template, 4)
        defer { unlink(template) }
        var bytes = Array("YUV4MPEG2 W64 H48 F30:1 C422\n".utf8)
        for _ in 0..<200 { bytes += Array("FRAME Ip\n".utf8) + Array(repeating: 100, count: 64 * 48 * 2) }
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
        let path = String(decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        try expectNone(Y4MSource(path: path, request: CaptureRequest(), isPaced: false))
    }

    @Test(
        "allocates nothing per frame while it watches for motion", arguments: [.nv12, .yuyv] as [PixelFormat])
    func watched(format: PixelFormat) throws {
        try expectNone(
            TestSource(CaptureRequest(size: PictureSize(320, 240), pixelFormat: format), isPaced: false),
            motion: MotionPlan())
    }

    @Test(
        "allocates nothing per frame for a rendition that is scaled from a conversion for all",
        arguments: [.nv12, .yuyv, .rgb24] as [PixelFormat])
    func scaled(format: PixelFormat) throws {
        let source = try TestSource(
            CaptureRequest(size: PictureSize(320, 240), pixelFormat: format), isPaced: false)
        try expectNone(
            source, conversion: SourceConversion(source.format, treatment: PictureTreatment()),
            scaledTo: PictureSize(160, 120))
    }

    @Test("the encode thread allocates nothing for pictures that another thread converts")
    func ahead() throws {
        let source = try TestSource(
            CaptureRequest(size: PictureSize(64, 48), pixelFormat: .mjpeg), isPaced: false)
        // The test picture's own compression is libjpeg's, which allocates.
        try expectNone(source, whileCapturing: false)
    }

    private func expectNone(
        _ source: any CaptureStream, whileCapturing: Bool = true, motion: MotionPlan? = nil,
        conversion: SourceConversion? = nil, scaledTo size: PictureSize? = nil
    ) throws {
        let progress = Progress()
        let stream = CountingStream(source, progress: progress)
        let encoder = try CountingEncoder(
            source: conversion?.format ?? source.format, progress: progress,
            makesThumbnails: motion != nil, scaledTo: size)
        let provider = try ScriptedProvider([encoder], keyframeInterval: .frames(10))
        provider.sourceConversion = conversion
        let sink = try CountingSink(progress: progress)
        let recording = try Recording(
            from: Capturing(RecordingSource(stream)),
            session: try CompressionSession([provider]), to: [OutputPlan(sink)],
            limits: RecordingLimits(frames: Self.window.upperBound + 10),
            motion: motion)
        let outcome = recording.finish()
        #expect(outcome.error == nil)
        if whileCapturing { #expect(stream.allocations == 0, "on the capture thread") }
        #expect(encoder.allocations == 0, "on the encode thread")
        #expect(sink.allocations == 0, "on the writer's thread")
    }
}

/// Counts a thread's allocations from one frame to another.
private struct Meter {
    /// Nil before and while it counts.
    private(set) var allocations: Int?
    private var frame = 0

    /// Called by the thread that is counted, once a frame.
    mutating func nextFrame() {
        if frame == AllocationTests.window.lowerBound { allocations_begin() }
        if frame == AllocationTests.window.upperBound { allocations = Int(allocations_end()) }
        frame += 1
    }
}

/// How far the writer is, so that no more access units are in flight than during the warm-up.
private final class Progress: @unchecked Sendable {
    // Safe to share: the numbers are touched with the lock held.
    private let monitor = Monitor()
    private var encoded = 0
    private var written = 0
    private var isOver = false

    /// From here on nothing waits.
    func end() {
        monitor.withLock {
            isOver = true
            monitor.signal()
        }
    }

    func countEncoded() {
        monitor.withLock {
            encoded += 1
            monitor.signal()
        }
    }

    func countWritten() {
        monitor.withLock {
            written += 1
            monitor.signal()
        }
    }

    func waitForEncoded(_ count: Int) {
        monitor.withLock { while encoded < count, !isOver { monitor.wait() } }
    }

    func waitForWritten(_ count: Int) {
        monitor.withLock { while written < count, !isOver { monitor.wait() } }
    }
}

private final class CountingStream: CaptureStream, @unchecked Sendable {
    // Safe to share: the capture thread's alone, until it has ended.
    private let source: any CaptureStream
    private let progress: Progress
    private var meter = Meter()
    var allocations: Int? { meter.allocations }

    init(_ source: any CaptureStream, progress: Progress) {
        self.source = source
        self.progress = progress
    }

    var identity: SourceIdentity { source.identity }
    var format: PictureFormat { source.format }
    var bufferCount: Int { source.bufferCount }
    var isLive: Bool { source.isLive }
    var losses: CaptureLosses { source.losses }
    var interrupter: CaptureInterrupter { source.interrupter }

    func nextBuffer() throws(CaptureError) -> NextBuffer {
        meter.nextFrame()
        return try source.nextBuffer()
    }

    func start() throws(CaptureError) { try source.start() }

    func stop() {
        source.stop()
        progress.end()
    }
}

private final class CountingEncoder: PictureEncoder, @unchecked Sendable {
    // Safe to share: the encode thread's alone, until it has ended.
    private let input: SoftwareInput
    private var finisher: StreamFinisher
    private var pending = PendingFrames()
    /// An IDR and the picture after it, as libx264 made them.
    private let packets: [AccessUnit]
    private let progress: Progress
    private var meter = Meter()
    private var finished: AccessUnit?
    private var count = 0
    var allocations: Int? { meter.allocations }

    /// Access units in flight during the warm-up; all with room for an IDR.
    static let unitsUnderWay = 8

    init(
        source: PictureFormat, progress: Progress, makesThumbnails: Bool, scaledTo scaled: PictureSize?
    ) throws {
        self.progress = progress
        let even = try #require(
            PictureSize((source.size.width + 1) & ~1, (source.size.height + 1) & ~1))
        let size = scaled ?? even
        var configuration = CompressionProperties()
        configuration.size = scaled
        var treatment = PictureTreatment()
        treatment.leavesThumbnails = makesThumbnails
        input = try EncoderInputs(codecs: [.h264], treatment: treatment).memory(
            for: source, configuration, size: size, color: source.color)
        let amender = ParameterSetAmender(size: size, color: source.color, frameRate: source.frameRate)
        finisher = StreamFinisher(
            codec: .h264, encoder: "recorded packets", slicesPerPicture: 1, amender: amender)
        packets = try Self.packets(size: size)
    }

    private static func packets(size: PictureSize) throws -> [AccessUnit] {
        let source = try TestSource(CaptureRequest(size: size, pixelFormat: .nv12), isPaced: false)
        let encoder = try SoftwareBackend.open(
            CompressionProperties(), source: source.format, inputs: EncoderInputs(codecs: [.h264]),
            regulator: RateRegulator())
        var units: [AccessUnit] = []
        while units.count < 2 {
            guard case .buffer(let buffer) = try source.nextBuffer() else { break }
            try encoder.encode(buffer, as: units.isEmpty ? .idr : .automatic, frameNumber: units.count)
            encoder.releasePicture()
            while let unit = try encoder.nextAccessUnit() { units.append(unit) }
        }
        return units
    }

    func releasePicture() { input.release() }

    func prepare(_ buffer: borrowing PixelBuffer, in slot: Int) throws(EncoderError) {
        _ = try input.frame(for: buffer, in: slot)
    }

    var thumbnail: LumaThumbnail? { input.thumbnail }

    func slot(_ number: Int) -> ConversionSlot? { input.slot(number) }

    func encode(
        _ buffer: borrowing PixelBuffer, as kind: FrameKind, frameNumber: Int
    ) throws(EncoderError) {
        meter.nextFrame()
        if count >= 2 * Self.unitsUnderWay { progress.waitForWritten(count - Self.unitsUnderWay / 2) }
        _ = try input.frame(for: buffer, in: 0)
        let isIDR = kind == .idr || count < 2 * Self.unitsUnderWay
        pending.append(
            PendingFrames.Frame(
                number: frameNumber, timestamp: buffer.timestamp, sequence: buffer.sequence,
                isIDRWanted: isIDR), playedAt: buffer.timestamp)
        guard let frame = pending.remove(number: frameNumber) else { return }
        let finished = try packets[isIDR ? 0 : 1].withUnsafeBytes {
            (bytes) throws(EncoderError) in try finisher.finish(bytes, frame)
        }
        self.finished = finished
        count += 1
        progress.countEncoded()
    }

    func nextAccessUnit() throws(EncoderError) -> AccessUnit? { finished.take() }

    func drain() throws(EncoderError) {}
}

private final class CountingSink: AccessUnitSink, @unchecked Sendable {
    // Safe to share: the writer's alone, until it has ended.
    let name = "counted"
    let identity: FileIdentity? = nil
    private let path: String
    private let file: SegmentRecorder
    private let device: FileSink
    private let progress: Progress
    private var meter = Meter()
    var allocations: Int? { meter.allocations }

    init(progress: Progress) throws {
        self.progress = progress
        var template = Array("/tmp/camrec-test-XXXXXX".utf8CString)
        close(mkstemp(&template))
        unlink(template)
        path =
            String(decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
            + ".h264"
        // A segment that is not cut while it is measured.
        let plan = SegmentPlan(
            names: FileNamePattern(path, expandsTime: true), length: .time(.seconds(3600)))
        file = try SegmentRecorder(
            plan, stream: StreamDescription(codec: .h264, width: 2, height: 2, frameRate: nil),
            open: { (path, _) throws(OutputError) in
                try FileSink(path: path, overwrite: true, cancellation: CancellationFlag()!)
            })
        device = try FileSink(path: "/dev/null", overwrite: false, cancellation: #require(CancellationFlag()))
    }

    deinit { unlink(path) }

    func write(_ unit: AccessUnit) throws(OutputError) {
        meter.nextFrame()
        progress.waitForEncoded(CountingEncoder.unitsUnderWay)
        try file.write(unit)
        try device.write(unit)
        progress.countWritten()
    }

    func beginStream(_ description: StreamDescription) {}

    func finish() throws(OutputError) {
        try file.finish()
        try device.finish()
    }
}
