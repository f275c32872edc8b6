import Recorder
import Threading

/// The line that is redrawn while a recording runs.
struct Progress {
    let start: Int64
    private var lastTime: Int64
    private var lastFrames = 0
    private var lastBytes = 0

    init(start: Int64) {
        self.start = start
        lastTime = start
    }

    /// Frames, rate since the last call, drops, time.
    mutating func line(_ recording: Recording) -> String {
        let now = MonotonicTime.now()
        let seconds = max(0.001, Double(now - lastTime) / 1e9)
        let frames = recording.outputs.map { $0.counters[.written] }.max() ?? 0
        let bytes = recording.outputs.reduce(0) { $0 + $1.counters[.bytes] }
        let rate = Double(frames - lastFrames) / seconds
        let bits = Double(bytes - lastBytes) * 8 / seconds
        (lastTime, lastFrames, lastBytes) = (now, frames, bytes)
        let dropped =
            recording.counters[.droppedByDriver] + recording.counters[.droppedByUs]
            + recording.encoderCounters.reduce(0) { $0 + $1[.droppedByEncoder] }
        return "\(frames) frames  \(decimal(rate)) fps  \(decimal(bits / 1e6)) Mbit/s  \(dropped) dropped  "
            + clock(now - start)
    }

    private func clock(_ nanoseconds: Int64) -> String {
        let seconds = nanoseconds / 1_000_000_000
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }
}

/// With one decimal.
func decimal(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
}
