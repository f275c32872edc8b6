import CV4L2
import TestSupport
import CamPlatform

@testable import Capture

/// Time that moves only during waits, and actions that a test schedules.
final class ScriptedClock: ScriptedTime, SourceClock, @unchecked Sendable {
    private var actions: [(time: Instant, action: () -> Void)] = []

    init() { super.init(now: .start + .seconds(1)) }

    /// Runs `action` as soon as this much time has passed from now.
    func after(_ duration: Duration, _ action: @escaping () -> Void) {
        actions.append((now + duration, action))
        actions.sort { $0.time < $1.time }
    }

    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, for duration: Duration?) -> Int32 {
        let end = duration.map { now + $0 } ?? .distantFuture
        while true {
            let ready = cv4l2_poll(descriptors.baseAddress, nfds_t(descriptors.count), 0)
            if ready != 0 { return ready }
            guard let next = actions.first, next.time <= end else { break }
            actions.removeFirst()
            pass(max(.zero, next.time - now))
            next.action()
        }
        // An endless wait that nothing will end would hang the test.
        precondition(end < .distantFuture, "nobody ends this wait")
        pass(end - now)
        return 0
    }
}
