import Recorder
import Threading

/// Notices when nothing is written any more.
struct Stall {
    private let patience: Int64
    private var written = -1
    private var since: Int64 = 0

    /// - Parameter patience: seconds.
    init(patience: Int) { self.patience = Int64(patience) * 1_000_000_000 }

    /// Whether something waits to be written and nothing was for that long.
    mutating func isReached(_ recording: Recording) -> Bool {
        let (now, written) = (MonotonicTime.now(), recording.outputs.reduce(0) { $0 + $1.counters[.written] })
        if written != self.written || !recording.hasUnwritten { (self.written, since) = (written, now) }
        return now - since >= patience
    }
}
