import Capture
import TestSupport
import CamPlatform

@testable import CamRecorder

/// Time that moves only during waits.
final class ScriptedInterruptibleClock: ScriptedTime, SourceStop, @unchecked Sendable {
    // Safe to share: a test's encode thread uses it alone until it has ended.

    /// The ends of every wait.
    private(set) var waits: [Instant] = []
    var isStopRequested = false
    /// The streams that would be interrupted, one after the other.
    private(set) var attachedCount = 0

    init() { super.init(now: .start + .seconds(1000)) }

    func attach(_ interrupter: CaptureInterrupter) { attachedCount += 1 }

    func wait(until deadline: Instant) -> Bool {
        if isStopRequested { return true }
        waits.append(deadline)
        now = max(now, deadline)
        return false
    }
}
