import CamPictures
import CamPlatform
import TestSupport

@testable import Capture

/// A source that delivers, waits, loses and fails under a test's control.
final class ScriptedStream: CaptureStream, @unchecked Sendable {
    // Safe to share: everything but the interrupter belongs to the capture thread.

    enum Event {
        case picture
        /// This many pictures, one after another.
        case pictures(Int)
        /// Frames that never became a picture: (dropped by the driver, corrupt).
        case loss(Int, Int)
        case wait(Gate)
        case open(Gate)
        case fail(CaptureError.Kind)
        /// Fails once; continues after a restart.
        case failOnce(CaptureError.Kind)
        /// Endless pictures.
        case endless
        /// Waits for the cancellation.
        case silence
        case perform(() -> Void)
        /// A picture of this time.
        case pictureAt(Instant)
        /// Times of capture that were corrected.
        case wrongTimes(TimestampFault)
    }

    let identity = SourceIdentity(device: "scripted", name: "scripted source")
    let isLive: Bool
    let bufferCount: Int
    private(set) var losses = CaptureLosses()
    private(set) var isStopped = false
    private(set) var isReleased = false
    private(set) var startCount = 0
    var startFailure: CaptureError.Kind?
    /// Called when it starts.
    var onStart: () -> Void = {}
    var takesTimeToStart = false
    /// Whether a buffer is held and never returned.
    var keepsBuffers = false
    private let pictures: Pictures
    private var events: [Event]
    private var number = 0

    init(
        _ events: [Event], isLive: Bool = true, bufferCount: Int = 6, pictures: Pictures? = nil
    ) throws {
        self.events = events
        self.isLive = isLive
        self.bufferCount = bufferCount
        self.pictures = try pictures ?? Pictures()
    }

    var format: PictureFormat { pictures.format }
    var interrupter: CaptureInterrupter { CaptureInterrupter(pool: pictures.pool) }
    var isInterrupted: Bool { pictures.pool.isInterrupted }

    func start() throws(CaptureError) {
        startCount += 1
        onStart()
        if let startFailure { throw CaptureError(startFailure, device: "scripted") }
        isStopped = false
    }

    func stop() { isStopped = true }

    func awaitBuffers(until deadline: Instant) -> Bool { !keepsBuffers }

    func releaseDevice() { isReleased = true }

    func nextBuffer() throws(CaptureError) -> NextBuffer {
        while !isInterrupted {
            guard let event = events.first else { return .end }
            switch event {
            case .picture:
                events.removeFirst()
                return nextPicture()
            case .pictures(let count):
                events[0] = count > 1 ? .pictures(count - 1) : .picture
                if count > 1 { return nextPicture() }
            case .endless:
                return nextPicture()
            case .loss(let dropped, let corrupt):
                events.removeFirst()
                losses.droppedByDriver += dropped
                losses.corrupt += corrupt
                number += dropped + corrupt
            case .wait(let gate):
                events.removeFirst()
                gate.wait()
            case .open(let gate):
                events.removeFirst()
                gate.open()
            case .failOnce(let kind):
                events.removeFirst()
                throw CaptureError(kind, device: "scripted")
            case .fail(let kind):
                throw CaptureError(kind, device: "scripted")
            case .perform(let action):
                events.removeFirst()
                action()
            case .pictureAt(let time):
                events.removeFirst()
                number += 1
                return .buffer(pictures.picture(number - 1, at: time))
            case .wrongTimes(let fault):
                events.removeFirst()
                losses.note(fault)
            case .silence:
                FreeBuffers(pool: pictures.pool, clock: SystemClock()).wait(until: nil)
            }
        }
        return .interrupted
    }

    private func nextPicture() -> NextBuffer {
        number += 1
        return .buffer(pictures.picture(number - 1))
    }
}
