import Capture
import Threading

/// The wish that a recording ends, which any wait within it can see.
final class RecordingStop: RestartPauses, @unchecked Sendable {
    // Safe to share: the flag is touched with the lock held.
    private let monitor = Monitor()
    private var isRequested = false

    func request() {
        monitor.withLock {
            isRequested = true
            monitor.signal()
        }
    }

    func now() -> Int64 { MonotonicTime.now() }

    func wait(until deadline: Int64) -> Bool {
        monitor.withLock {
            while !isRequested, MonotonicTime.now() < deadline { monitor.wait(until: deadline) }
            return isRequested
        }
    }
}
