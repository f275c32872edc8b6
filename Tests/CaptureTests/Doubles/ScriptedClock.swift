import CV4L2

@testable import Capture

/// Time that moves only during waits, and the actions of a test as it passes.
final class ScriptedClock: SourceClock, @unchecked Sendable {
    // Safe to share: a test uses it from one thread.
    private(set) var time: Int64 = 1_000_000_000
    private var actions: [(time: Int64, action: () -> Void)] = []

    /// How long the machine slept.
    var suspension: Int64 = 0

    func now() -> Int64 { time }

    func suspended() -> Int64 { suspension }

    /// Lets time go by with nobody waiting.
    func pass(_ nanoseconds: Int64) { time += nanoseconds }

    /// Runs `action` as soon as this much time has passed.
    func after(_ nanoseconds: Int64, _ action: @escaping () -> Void) {
        actions.append((time + nanoseconds, action))
        actions.sort { $0.time < $1.time }
    }

    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, nanoseconds: Int64) -> Int32 {
        let end = nanoseconds < 0 ? Int64.max : time + nanoseconds
        while true {
            let ready = cv4l2_poll(descriptors.baseAddress, nfds_t(descriptors.count), 0)
            if ready != 0 { return ready }
            guard let next = actions.first, next.time <= end else { break }
            actions.removeFirst()
            time = max(time, next.time)
            next.action()
        }
        // A wait without end that nobody will end would hang the test.
        precondition(end < .max, "nobody ends this wait")
        time = end
        return 0
    }
}
