import Output
import CamRecorder
import CamPlatform

/// The status line, redrawn while a recording runs.
struct Progress {
    let start: Instant
    private var lastTime: Instant
    private var lastFrames = 0
    private var lastBytes = 0

    init(start: Instant) {
        self.start = start
        lastTime = start
    }

    /// Returns the line: what cannot be written, since when; then frames, rate since the last call, drops, time.
    mutating func line(_ recording: Recording) -> String {
        let now = Instant.now
        let seconds = max(0.001, (now - lastTime).inSeconds)
        let frames = recording.outputs.map { $0.counters[.written] }.max() ?? 0
        let bytes = recording.outputs.reduce(0) { $0 + $1.counters[.bytes] }
        let rate = Double(frames - lastFrames) / seconds
        let bits = Double(bytes - lastBytes) * 8 / seconds
        (lastTime, lastFrames, lastBytes) = (now, frames, bytes)
        let dropped =
            recording.counters[.droppedByDriver] + recording.counters[.droppedByUs]
            + recording.encoderCounters.reduce(0) { $0 + $1[.droppedByEncoder] }
        return outage(of: recording) + "\(frames) frames  \(decimal(rate)) fps  "
            + "\(decimal(bits / 1e6)) Mbit/s  \(dropped) dropped  " + clock(now - start)
    }

    private func outage(of recording: Recording) -> String {
        for output in recording.outputs {
            guard let outage = output.outage else { continue }
            let since = FileNamePattern("%F %T", expandsTime: true).name(at: outage.since)
            return "\(output.name): \(outage.error.condition) since \(since)  "
        }
        return ""
    }

    private func clock(_ time: Duration) -> String {
        let seconds = time.inMilliseconds / 1000
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }
}

/// Formats a number with one decimal.
func decimal(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
}
