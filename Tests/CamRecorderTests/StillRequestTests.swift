import Bitstream
import Encoder
import CamNetworking
import CamPictures
import TestSupport
import Testing
import CamPlatform

@testable import Capture
@testable import CamRecorder

/// A picture that is taken out of a running recording.
@Suite(.hangGuard) struct StillRequestTests {
    /// Takes a picture while another thread shows pictures, which wait for nothing.
    private func take(
        _ request: StillRequest, from show: @escaping @Sendable () -> Void
    ) -> (bytes: [UInt8], sequence: UInt32)? {
        let isOver = CancellationFlag()!
        var thread = WorkerThread { while !isOver.isRaised { show() } }
        defer {
            isOver.raise()
            if let thread = thread.take() { thread.join() }
        }
        guard let still = request.take(until: .now + .seconds(30)) else { return nil }
        return (Array(still.picture.plane(0)), still.picture.sequence)
    }

    private func hasTaken(_ request: StillRequest, until deadline: Instant) -> Bool {
        if request.take(until: deadline) != nil { return true }
        return false
    }

    @Test("is a copy: the camera's buffer is free at once, and may change")
    func copies() throws {
        let source = try Marked()
        let request = StillRequest()
        let taken = try #require(take(request) { source.show(to: request) })
        #expect(
            taken.bytes
                == Array(repeating: UInt8(truncatingIfNeeded: taken.sequence), count: taken.bytes.count))
    }

    @Test("pictures that nobody asks for are not looked at")
    func idle() throws {
        let source = try Marked()
        let request = StillRequest()
        for _ in 0..<100 { source.show(to: request) }
        #expect(source.askedForExposure == 0)
        let later = try #require(take(request) { source.show(to: request) })
        #expect(later.sequence >= 100)
        #expect(source.askedForExposure == 1)
    }

    @Test("a camera that takes long to say its exposure holds nobody up")
    func slowExposure() throws {
        let source = try Marked()
        let (request, isAsked, isOver) = (StillRequest(), CancellationFlag()!, CancellationFlag()!)
        let shows = WorkerThread {
            while !isOver.isRaised {
                source.show(to: request) {
                    isAsked.raise()
                    _ = WaitResult.wait(for: isOver.descriptor, unless: nil)
                }
            }
        }
        let takes = WorkerThread { _ = request.take(until: .now + .seconds(3600)) }
        _ = WaitResult.wait(for: isAsked.descriptor, unless: nil)
        // Ends the wait while the camera is still being asked.
        request.close()
        takes?.join()
        isOver.raise()
        shows?.join()
    }

    @Test("a wait ends when no more pictures come, and when the time is over")
    func ends() {
        let request = StillRequest()
        #expect(!hasTaken(request, until: .now))
        request.close()
        #expect(!hasTaken(request, until: .now + .seconds(3600)))
    }

    @Test("a request that nobody answered does not disturb the next")
    func unanswered() throws {
        let source = try Marked()
        let request = StillRequest()
        #expect(!hasTaken(request, until: .now))
        source.show(to: request)
        #expect(take(request) { source.show(to: request) } != nil)
    }

    @Test("a request that runs out of time after its picture was copied keeps no memory")
    func unfinished() throws {
        let source = try Marked()
        let (request, isOver) = (StillRequest(), CancellationFlag()!)
        let shows = WorkerThread {
            while !isOver.isRaised {
                source.show(to: request) { _ = WaitResult.wait(for: isOver.descriptor, unless: nil) }
            }
        }
        #expect(!hasTaken(request, until: .now + .seconds(1)))
        #expect(!request.hasRoom)
        isOver.raise()
        shows?.join()
    }

    @Test(
        "a recording gives a picture away and loses none, in a time lapse and a pause, too",
        arguments: [false, true])
    func recording(isLapse: Bool) throws {
        let source = try TestSource(
            CaptureRequest(size: PictureSize(64, 48), pixelFormat: .mjpeg), isPaced: false)
        let (sink, control) = (ScriptedSink(), RecordingControl())
        let capturing = Capturing(RecordingSource(source), every: isLapse ? .seconds(10) : nil)
        let provider = try ScriptedProvider([ScriptedEncoder()])
        if isLapse { provider.playbackRate = FrameRate(25) }
        let recording = try Recording(
            from: capturing, session: try CompressionSession([provider]), to: [OutputPlan(sink)],
            control: control,
            limits: RecordingLimits())
        if !isLapse { control.pause() }
        let task = SnapshotTask(
            recording.stills, Snapshot.Form(.jpeg, program: "test"), camera: "a camera")
        let snapshot = try task.take()
        recording.stop()
        #expect(recording.finish().error == nil)
        #expect(snapshot.isCamerasOwn && snapshot.bytes.suffix(2) == [0xFF, 0xD9])
        #expect(recording.counted.addUp)
        #expect(recording.counted[.droppedByUs] == 0)
        #expect(throws: ControlRefusal.self) { try task.take() }
    }

    @Test("the file follows its reply, whose length it has")
    func sent() throws {
        let source = try TestSource(
            CaptureRequest(size: PictureSize(320, 240), pixelFormat: .nv12), isPaced: false)
        let recording = try Recording(
            from: Capturing(RecordingSource(source)),
            session: try CompressionSession([ScriptedProvider([ScriptedEncoder()])]),
            to: [OutputPlan(ScriptedSink())], limits: RecordingLimits())
        let task = SnapshotTask(recording.stills, Snapshot.Form(.png, program: "test"), camera: "a camera")
        let received = try sentBytes { task.run(sendingTo: $0) { "\($0.bytes ?? 0)" } }
        recording.stop()
        _ = recording.finish()
        let end = try #require(received.firstIndex(of: 10))
        #expect(String(decoding: received[..<end], as: UTF8.self) == "\(received.count - end - 1)")
        #expect(received[(end + 1)...].starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }
}

/// Pictures of one buffer, each filled with its number.
private final class Marked: @unchecked Sendable {
    // Safe to share: one thread at a time uses it.
    private let pool: PixelBufferPool
    private let format: PictureFormat
    private var number: UInt32 = 0
    private(set) var askedForExposure = 0

    init() throws {
        format = PictureFormat(
            .grey, size: PictureSize(32, 32)!, frameRate: FrameRate(30)!,
            color: ColorEncoding(range: .full, matrix: .bt601))!
        pool = try .allocated(count: 1, length: format.minimumLengths[0])
    }

    func show(to request: StillRequest, asked: () -> Void = {}) {
        let memory = pool.memory(ofBuffer: 0, plane: 0)
        memory.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: number))
        var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
        payloads[0].length = format.minimumLengths[0]
        let picture = PixelBuffer(
            pool: pool, index: 0, payloads: payloads, format: format, sequence: number, timestamp: .start)
        request.offer(picture) {
            askedForExposure += 1
            asked()
            return nil
        }
        number += 1
        // A picture that still refers to this memory shows it.
        memory.initializeMemory(as: UInt8.self, repeating: 0xEE)
    }
}
