import Bitstream
import Capture
import Output
import Threading

/// A writer thread's work: takes access units to one sink.
struct WriteStage {
    let units: BoundedQueue<AccessUnit>
    let sink: any PacketSink
    let counters: Counters<OutputCounter>
    /// Whether timestamps are moments of this machine's clock, so that latency can be told.
    let measuresLatency: Bool
    var latency = LatencyHistogram()

    /// Runs until the queue is closed and empty, or the sink fails and cannot recover.
    /// - Returns: what went wrong first.
    mutating func run() -> OutputError? {
        var failure: OutputError?
        while let unit = units.pop() {
            do throws(OutputError) {
                try write(unit)
            } catch {
                failure = failure ?? error
                guard sink.recovers else {
                    giveUp()
                    return error
                }
                counters.add(to: .lost)
            }
        }
        do throws(OutputError) { try sink.finish() } catch { failure = failure ?? error }
        return failure
    }

    private mutating func write(_ unit: AccessUnit) throws(OutputError) {
        try sink.write(unit)
        counters.add(to: .written)
        if unit.isIDR { counters.add(to: .keyframes) }
        counters.add(unit.count, to: .bytes)
        if measuresLatency { latency.record(MonotonicTime.now() - unit.timestamp) }
    }

    /// Nothing more is written.
    private func giveUp() {
        units.close()
        while let unwritten = units.pop() { _ = consume unwritten }
        counters.add(counters[.accepted] - counters[.written], to: .lost)
    }
}
