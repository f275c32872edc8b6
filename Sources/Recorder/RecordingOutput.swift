import Bitstream
import Output
import Synchronization
import Threading

/// One output of a recording: its queue of coded pictures, and the thread that writes them.
public final class RecordingOutput: @unchecked Sendable {
    // Safe to share: `stage` and `error` belong to the writer's thread until it has been joined, `thread` to
    // whoever made the recording; everything else is constant or made for many threads.

    /// What it is called in messages.
    public let name: String
    /// Index of the track whose stream it takes.
    public let track: Int
    /// What is being counted.
    public let counters = Counters<OutputCounter>()
    /// Why writing failed; to be read after `join`.
    private(set) var error: OutputError?
    let items = BoundedQueue<OutputItem>(capacity: capacity, costLimit: byteLimit)
    private var stage: WriteStage
    private var thread: WorkerThread?

    /// A queue of coded pictures: 64 MiB, or a minute at 60 frames a second.
    private static let capacity = 3600
    private static let byteLimit = 64 << 20

    init(
        _ sink: any PacketSink, track: Int, measuresLatency: Bool,
        control: RecordingControl = RecordingControl()
    ) {
        name = sink.name
        self.track = track
        stage = WriteStage(
            items: items, sink: sink, counters: counters, measuresLatency: measuresLatency, control: control)
    }

    /// Starts the writer.
    /// - Parameter ended: called on the writer's thread when everything is written, or with the reason why no more is.
    /// - Returns: false where the system allows no more threads.
    func start(ended: @escaping @Sendable (OutputError?) -> Void) -> Bool {
        thread = WorkerThread { [self] in
            error = stage.run()
            ended(stage.hasGivenUp ? error : nil)
        }
        return thread != nil
    }

    /// Queues an access unit, waiting for room.
    /// - Returns: false where nothing is written any more.
    func accept(_ unit: AccessUnit) -> Bool {
        counters.add(to: .accepted)
        if push(.unit(unit)) { return true }
        counters.add(-1, to: .accepted)
        return false
    }

    /// The access units that follow are of a stream with other properties.
    func beginStream(_ description: StreamDescription) { _ = push(.stream(description)) }

    private func push(_ item: OutputItem) -> Bool { items.push(item, cost: item.cost) }

    /// No more access units come.
    func close() { items.close() }

    /// Whether access units wait to be written.
    var hasUnwritten: Bool { counters[.accepted] > counters[.written] + counters[.lost] + counters[.passed] }

    /// Waits for the writer.
    func join() {
        if let thread = thread.take() { thread.join() }
    }

    /// Capture to write; nil where nothing was written or the source has no clock. To be read after `join`.
    var latency: RecordingOutcome.Latency? {
        guard let median = stage.latency.percentile(0.5), let high = stage.latency.percentile(0.99) else {
            return nil
        }
        return RecordingOutcome.Latency(
            median: median, percentile99: high, maximum: stage.latency.maximum)
    }
}
