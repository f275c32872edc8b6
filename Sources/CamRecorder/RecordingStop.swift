import CamPlatform
import Capture

/// The request to end a recording. It ends every wait: for the next picture, for a source that disappeared,
/// between encoder restarts. It cannot be withdrawn.
final class RecordingStop: SourceStop, @unchecked Sendable {
    // Safe to share: mutable state is accessed with the lock held.
    private let monitor = Monitor()
    private var hasBegun = false
    private var interrupter: CaptureInterrupter?

    /// Whether the recording should end.
    var isRequested: Bool { monitor.withLock { hasBegun } }

    /// Requests the end, from any thread.
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

/// The request to end a recording, for a source that waits for pictures or has disappeared.
protocol SourceStop: InterruptibleClock {
    /// Makes the request interrupt this stream from now on, instead of the previous one.
    func attach(_ interrupter: CaptureInterrupter)
}

/// A clock whose waits end as soon as the recording should end. Tests script it.
protocol InterruptibleClock: AnyObject, TimeSource {
    /// Waits until a deadline.
    /// - Returns: true as soon as the recording should end.
    func wait(until deadline: Instant) -> Bool
}
