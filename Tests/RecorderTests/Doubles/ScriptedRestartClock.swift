import Capture

@testable import Recorder

/// Time that moves only when someone waits.
final class ScriptedRestartClock: SourceStop {
    private(set) var time: Int64 = 1_000_000_000_000
    /// The ends of every wait.
    private(set) var waits: [Int64] = []
    var isStopRequested = false

    func now() -> Int64 { time }

    func pass(_ nanoseconds: Int64) { time += nanoseconds }

    /// The streams that would be interrupted, one after another.
    private(set) var attachedCount = 0

    func attach(_ interrupter: CaptureInterrupter) { attachedCount += 1 }

    func wait(until deadline: Int64) -> Bool {
        if isStopRequested { return true }
        waits.append(deadline)
        time = max(time, deadline)
        return false
    }
}
