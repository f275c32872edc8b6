import Bitstream
import Output
import Synchronization
import Threading
import Time

/// One output of a recording: its queue of coded pictures, and the thread that writes them.
///
/// Where its queue is full the encode thread waits, and pictures are dropped ahead of it: never coded ones, which
/// others need. An output that takes nothing at all for long would hold up the others with that; where there are
/// any it is left behind instead. One file ends there; a recording in segments goes on with the IDR that comes when
/// its queue has become empty.
///
/// Live outputs have the queue as well: fed straight from the encode thread, that thread is interrupted while a
/// thousand receivers are served, and they get their pictures later (docs/latency.md).
public final class RecordingOutput: @unchecked Sendable {
    // Safe to share: `stage` and `writeError` belong to the writer's thread until it has been joined, `blockage`,
    // `blockError` and `messages` to the encode thread until that has, `thread` and `isAbandoned` to whoever made the
    // recording; everything else is constant or made for many threads.

    /// What it is called in messages.
    public let name: String
    /// What was asked for.
    public let choice: OutputChoice
    /// Who takes a live output's stream; nil for other outputs.
    public let receivers: ReceiverLedger?
    /// What is being counted.
    public let counters = Counters<OutputCounter>()
    /// Its writer hangs, and was not waited for: its sink is not to be touched.
    public private(set) var isAbandoned = false
    let items = BoundedQueue<OutputItem>(capacity: capacity, costLimit: byteLimit)
    private let recovers: Bool
    private let patience: Duration?
    private let report: @Sendable (OutputEvent) -> Void
    private var stage: WriteStage
    private var writeError: OutputError?
    private var thread: WorkerThread?
    private let isClosed = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)
    private var blockage: Blockage?
    private var blockError: OutputError?
    private var messages = MessageLimit()

    /// A time in which it takes nothing and the others go on.
    private struct Blockage {
        let isTold: Bool
        var lost = 0
        /// What the stream is now, where that changed meanwhile.
        var stream: StreamDescription?
    }

    /// How long an output may take nothing where others would have to wait: longer than a disk
    /// takes to spin up.
    static let usualPatience = Duration.seconds(15)
    /// A queue of coded pictures: 64 MiB, or a minute at 60 frames a second.
    static let capacity = 3600
    private static let byteLimit = 64 << 20

    /// - Parameters:
    ///   - patience: how long it may take nothing from a full queue; nil forever.
    ///   - report: told, on the encode thread, where it is left behind.
    init(
        _ plan: OutputPlan, measuresLatency: Bool,
        control: RecordingControl = RecordingControl(), patience: Duration? = nil,
        report: @escaping @Sendable (OutputEvent) -> Void = { _ in }
    ) {
        let sink = plan.sink
        (name, choice, recovers, receivers) = (sink.name, plan.choice, sink.recovers, sink.receivers)
        (self.patience, self.report) = (patience, report)
        stage = WriteStage(
            items: items, sink: sink, ring: plan.ring, counters: counters, measuresLatency: measuresLatency,
            control: control)
    }

    /// Starts the writer.
    /// - Parameter ended: called on the writer's thread when everything is written, or with the reason why no more is.
    /// - Returns: false where the system allows no more threads.
    func start(ended: @escaping @Sendable (OutputError?) -> Void) -> Bool {
        // In a full queue there are pictures, with which it is noticed as well.
        if stage.ring != nil { stage.control.whenTriggered { [items] in items.offer(.event) } }
        thread = WorkerThread { [self] in
            writeError = stage.run()
            hasEnded.store(true, ordering: .releasing)
            ended(stage.hasGivenUp ? writeError : nil)
        }
        return thread != nil
    }

    /// Queues an access unit, waiting for room.
    /// - Returns: false where nothing is written any more.
    func accept(_ unit: AccessUnit) -> Bool {
        if blockage != nil {
            guard unit.isIDR, items.isEmpty else { return lose() }
            endBlockage()
        }
        guard waitForRoom(unit.count) else { return recovers && lose() }
        counters.add(to: .accepted)
        if push(.unit(unit)) { return true }
        counters.add(-1, to: .accepted)
        return false
    }

    /// The access units that follow are of a stream with other properties.
    func beginStream(_ description: StreamDescription) {
        if blockage == nil, waitForRoom(0) {
            _ = push(.stream(description))
        } else {
            blockage?.stream = description
        }
    }

    private func push(_ item: OutputItem) -> Bool { items.push(item, cost: item.cost) }

    /// No more access units come.
    func close() {
        isClosed.store(true, ordering: .releasing)
        items.close()
    }

    /// Whether its writer has something to do still.
    var hasUnwritten: Bool {
        guard !hasEnded.load(ordering: .acquiring) else { return false }
        return isClosed.load(ordering: .acquiring)
            || counters[.accepted] > counters[.written] + counters[.lost] + counters[.passed]
    }

    /// It will not be waited for unless it has ended by itself.
    func abandon() {
        isAbandoned = !hasEnded.load(ordering: .acquiring)
        if isAbandoned { close() }
    }

    /// Waits for the writer, after the encode thread has ended.
    func join() {
        guard let thread = thread.take() else { return }
        guard isAbandoned else { return thread.join() }
        thread.detach()
        counters.add(
            counters[.accepted] - counters[.written] - counters[.lost] - counters[.passed], to: .lost)
    }

    /// What came of it; to be read after `join`.
    var outcome: RecordingOutcome.Output {
        RecordingOutcome.Output(
            name: name, choice: choice, delivery: delivery, waits: counters[.waits], latency: latency,
            // An abandoned sink is still in its writer's hands.
            segments: isAbandoned ? nil : stage.sink.segments, receivers: receivers, error: error)
    }

    /// What receivers took counts as written, not what waited for one.
    private var delivery: RecordingOutcome.Delivery {
        guard let receivers, receivers.mustBeTaken else {
            return RecordingOutcome.Delivery(
                written: counters[.written], keyframes: counters[.keyframes], bytes: counters[.bytes],
                lost: counters[.lost])
        }
        let taken = receivers.taken
        return RecordingOutcome.Delivery(
            written: taken.units, keyframes: taken.keyframes, bytes: taken.bytes,
            lost: max(0, counters[.written] + counters[.lost] - taken.units))
    }

    /// Why writing failed; to be read after `join`.
    var error: OutputError? {
        if isAbandoned { return blockError ?? OutputError(.blocked, output: name) }
        return writeError ?? blockError
    }

    /// Capture to write; nil where nothing was written or the source has no clock. To be read after `join`.
    private var latency: RecordingOutcome.Latency? {
        guard !isAbandoned, let median = stage.latency.percentile(0.5),
            let high = stage.latency.percentile(0.99)
        else { return nil }
        return RecordingOutcome.Latency(
            median: .nanoseconds(median), percentile99: .nanoseconds(high),
            maximum: .nanoseconds(stage.latency.maximum))
    }
}

// MARK: Outputs that take nothing

extension RecordingOutput {
    /// - Returns: false where there is none and the output is left behind.
    private func waitForRoom(_ cost: Int) -> Bool {
        switch items.waitForRoom(cost: cost, patience: patience) {
        case .atOnce: return true
        case .later:
            counters.add(to: .waits)
            return true
        case .none:
            beginBlockage()
            return false
        }
    }

    private func beginBlockage() {
        let error = OutputError(.blocked, output: name)
        blockError = blockError ?? error
        guard recovers else {
            items.close()
            return report(.failed(error))
        }
        blockage = Blockage(isTold: messages.admit(at: .now) != nil)
        if blockage?.isTold == true { report(.blocked(error)) }
    }

    private func endBlockage() {
        guard let ended = blockage.take() else { return }
        if ended.isTold { report(.resumed(name: name, lost: ended.lost)) }
        if let stream = ended.stream { _ = push(.stream(stream)) }
    }

    /// An access unit is not even queued.
    private func lose() -> Bool {
        blockage?.lost += 1
        counters.add(to: .accepted)
        counters.add(to: .lost)
        return true
    }
}
