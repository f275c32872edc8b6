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

    /// Runs until the queue is closed and empty, or the sink fails and cannot recover.
    /// - Returns: what went wrong first.
    mutating func run() -> OutputError? {
        var failure: OutputError?
        while let item = items.pop() {
            do throws(OutputError) { try take(item) } catch {
                failure = failure ?? error
                guard sink.recovers else {
                    giveUp()
                    return error
                }
                if case .unit = item { counters.add(to: .lost) }
            }
        }
        do throws(OutputError) { try sink.finish() } catch { failure = failure ?? error }
        return failure
    }

    private mutating func take(_ item: OutputItem) throws(OutputError) {
        switch item {
        case .unit(let unit): try write(unit)
        case .stream(let description): try sink.beginStream(description)
        }
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
        items.close()
        _ = items.removeAll()
        counters.add(counters[.accepted] - counters[.written], to: .lost)
    }
}
