import Bitstream
import Capture
import Output
import Threading

/// A writer thread's work: takes access units to one sink.
struct WriteStage {
    let items: BoundedQueue<OutputItem>
    let sink: any PacketSink
    let counters: Counters<OutputCounter>
    /// Whether timestamps are moments of this machine's clock, so that latency can be told.
    let measuresLatency: Bool
    var latency = LatencyHistogram()

    /// Runs until the queue is closed and empty, or the sink fails.
    mutating func run() -> OutputError? {
        do throws(OutputError) {
            while let item = items.pop() {
                switch item {
                case .unit(let unit): try write(unit)
                case .stream(let description): try sink.beginStream(description)
                }
            }
            try sink.finish()
            return nil
        } catch {
            items.close()
            _ = items.removeAll()
            counters.add(counters[.accepted] - counters[.written], to: .lost)
            return error
        }
    }

    private mutating func write(_ unit: AccessUnit) throws(OutputError) {
        try sink.write(unit)
        counters.add(to: .written)
        if unit.isIDR { counters.add(to: .keyframes) }
        counters.add(unit.count, to: .bytes)
        if measuresLatency { latency.record(MonotonicTime.now() - unit.timestamp) }
    }
}
