import CamPlatform
import Capture

/// The request to end a recording. It ends every wait: for the next picture, for a source that disappeared,
/// between encoder restarts. It cannot be withdrawn.
final class RecordingStop: SourceStop, @unchecked Sendable {
    // Safe to share: interrupter and demand are accessed with the lock held.
    private let time = StoppableTime()
    private let monitor = Monitor()
    private var interrupter: CaptureInterrupter?
    private var demand: CameraDemand?

    var isStopRequested: Bool { time.isStopRequested }

    /// Requests the end, from any thread.
    func request() {
        time.requestStop()
        monitor.withLock { interrupter }?.interrupt()
        monitor.withLock { demand }?.cancel()
    }

    func attach(_ interrupter: CaptureInterrupter) {
        monitor.withLock { self.interrupter = interrupter }
        // A request that came before found no interrupter.
        if time.isStopRequested { interrupter.interrupt() }
    }

    /// Makes the request end the wait for a viewer.
    func attach(_ demand: CameraDemand) {
        monitor.withLock { self.demand = demand }
        if time.isStopRequested { demand.cancel() }
    }

    var now: Instant { time.now }

    var wallTime: WallTime { time.wallTime }

    var suspendedTime: Duration { time.suspendedTime }

    func wait(until deadline: Instant) -> Bool { time.wait(until: deadline) }
}

/// The request to end a recording, for a source that waits for pictures or has disappeared.
protocol SourceStop: InterruptibleClock {
    /// Makes the request interrupt this stream from now on, instead of the previous one.
    func attach(_ interrupter: CaptureInterrupter)
}
