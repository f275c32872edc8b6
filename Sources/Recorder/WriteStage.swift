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

    /// Runs until the queue is closed and empty, or the sink fails.
    mutating func run() -> OutputError? {
        do throws(OutputError) {
            while let unit = units.pop() {
                try sink.write(unit)
                counters.add(to: .written)
                if unit.isIDR { counters.add(to: .keyframes) }
                counters.add(unit.count, to: .bytes)
                if measuresLatency { latency.record(MonotonicTime.now() - unit.timestamp) }
            }
            try sink.finish()
            return nil
        } catch {
            units.close()
            while let unwritten = units.pop() { _ = consume unwritten }
            counters.add(counters[.accepted] - counters[.written], to: .lost)
            return error
        }
    }
}
