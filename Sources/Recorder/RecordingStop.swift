import Capture
import Threading
import Time

/// The wish that a recording ends, which every wait within it can see: for the next picture, for a source that
/// went away, between an encoder's restarts. It is never taken back.
final class RecordingStop: SourceStop, @unchecked Sendable {
    // Safe to share: what is mutable is touched with the lock held.
    private let monitor = Monitor()
    private var hasBegun = false
    private var interrupter: CaptureInterrupter?

    /// Whether the recording is to end.
    var isRequested: Bool { monitor.withLock { hasBegun } }

    /// From any thread.
    func request() {
        let interrupter = monitor.withLock {
            hasBegun = true
            monitor.signal()
            return self.interrupter
        }
        interrupter?.interrupt()
    }

    func attach(_ interrupter: CaptureInterrupter) {
        let isRequested = monitor.withLock {
            self.interrupter = interrupter
            return hasBegun
        }
        if isRequested { interrupter.interrupt() }
    }

    var now: Instant { .now }

    var wallTime: WallTime { .now }

    var suspendedTime: Duration { SystemTime().suspendedTime }

    func wait(until deadline: Instant) -> Bool {
        monitor.withLock {
            while !hasBegun, .now < deadline { monitor.wait(until: deadline) }
            return hasBegun
        }
    }
}
