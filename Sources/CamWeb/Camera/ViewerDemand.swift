import CamNetworking
import CamPlatform

/// Counts the viewers of a camera. The reader connects only while there are viewers, and stays a while after
/// the last one left, who may only be reloading the page.
final class ViewerDemand: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let linger: Duration
    private let wakeUp: EventFD
    private var viewers: [LiveForm: Int] = [:]
    private var viewerCount = 0
    /// When the demand ends; nil while there are viewers, and before the first.
    private var end: Instant?
    private var isOver = false

    init(linger: Duration) throws(NetworkError) {
        self.linger = linger
        wakeUp = try EventFD()
    }

    /// Readable after a viewer left or `stop`, until `noteChange`.
    var descriptor: Int32 { wakeUp.descriptor }

    /// When the demand ends if no viewer comes; nil while there are viewers.
    var deadline: Instant? { monitor.withLock { end } }

    func viewerJoined(_ form: LiveForm) {
        monitor.withLock {
            viewers[form, default: 0] += 1
            viewerCount += 1
            end = nil
            monitor.signal()
        }
    }

    func viewerLeft(_ form: LiveForm, at now: Instant = .now) {
        monitor.withLock {
            viewers[form, default: 0] -= 1
            viewerCount -= 1
            if viewerCount == 0 { end = now + linger }
        }
        wakeUp.wake()
    }

    /// Ends the demand for good.
    func stop() {
        monitor.withLock {
            isOver = true
            monitor.signal()
        }
        wakeUp.wake()
    }

    /// Clears the descriptor.
    func noteChange() { wakeUp.sleep() }

    func isWanted(at now: Instant = .now) -> Bool {
        monitor.withLock { !isOver && (viewerCount > 0 || end.map { now < $0 } ?? false) }
    }

    /// Whether the stream has viewers of a form.
    func isWanted(_ form: LiveForm) -> Bool { monitor.withLock { viewers[form, default: 0] > 0 } }

    /// Waits for a viewer.
    /// - Returns: false after `stop`.
    func awaitViewer() -> Bool {
        monitor.withLock {
            while viewerCount == 0, !isOver { monitor.wait() }
            return !isOver
        }
    }
}
