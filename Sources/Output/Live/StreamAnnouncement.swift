import Bitstream
import Network
import Threading

/// Hands the latest description of a stream from its writer to the thread that announces it.
final class StreamAnnouncement: @unchecked Sendable {
    // Safe to share: the description is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let wakeUp: WakeUp
    private var description: SessionDescription?

    init() throws(NetworkError) { wakeUp = try WakeUp() }

    /// Notes a keyframe's parameter sets.
    func note(_ keyframe: AccessUnit) {
        guard let latest = SessionDescription(keyframe: keyframe) else { return }
        monitor.withLock { description = latest }
        wakeUp.wake()
    }

    /// Waits for the first description.
    /// - Returns: the latest; nil if the interruption was raised.
    func wait(unless interruption: Interruption) -> SessionDescription? {
        // Never cleared: once there is a description, there is one.
        _ = interruption.wait(for: wakeUp.descriptor)
        return monitor.withLock { description }
    }
}
