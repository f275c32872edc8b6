import Bitstream
import CamPlatform
import CamSound
import Synchronization
import CamDelivery
import CamStorage
import Containers

/// One output of a recording: its queue of coded pictures, and the thread that writes them.
///
/// If its queue is full, the encode thread waits, and pictures are dropped before encoding; coded ones, on
/// which others depend, are never dropped. To keep a stalled output from holding up others, it is left out: a
/// single file ends there; a segmented recording continues with the next IDR once its queue is empty.
///
/// Live outputs have the queue as well: serving a thousand receivers from the encode thread would interrupt
/// it and deliver their pictures later (docs/latency.md).
package final class RecordingOutput: @unchecked Sendable {
    // Safe to share: `stage` and `writeError` belong to the writer's thread until it is joined, `blockage`,
    // `blockError` and `messages` to the encode thread until it is joined, `thread` and `isAbandoned` to the
    // recording's creator; everything else is constant or thread-safe.

    /// Its name in messages.
    package let name: String
    /// The requested output.
    package let choice: OutputChoice
    /// The place of its rendition among the session's.
    package let rendition: Int
    /// A live output's receivers; nil for other outputs.
    package let receivers: ReceiverLedger?
    /// Its counters.
    package let counters = Counters<OutputCounter>()
    /// The latencies from capture to write, so far.
    let latencies = LatencyBuckets()
    private let outages: OutageRecord
    private let hasRing: Bool
    private let ringLevel: RingLevel
    /// A file's folder, from the root; nil for other outputs.
    let folder: String?
    /// Which of its files are kept.
    let retention: SegmentRetention
    /// Whether its writer hangs and was not joined: its sink must not be used.
    package private(set) var isAbandoned = false
    let items = BoundedQueue<OutputItem>(capacity: capacity, costLimit: byteLimit)
    private let recovers: Bool
    private let patience: Duration?
    private let report: @Sendable (OutputEvent) -> Void
    private var stage: WriteStage
    private var writeError: OutputError?
    private var thread: WorkerThread?
    private let isClosed = Atomic<Bool>(false)
    private let hasSoundEnded = Atomic<Bool>(false)
    /// Pictures, and sound where there is any: the queue is closed when both have ended.
    private let openParts = Atomic<Int>(1)
    /// Whether the output is left out at the moment.
    private let isBlocked = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)
    private var blockage: Blockage?
    private var blockError: OutputError?
    private var messages = MessageLimit()

    /// A stall, during which the other outputs continue.
    private struct Blockage {
        let isTold: Bool
        var lost = 0
        /// The current stream, if it changed during the stall.
        var stream: StreamDescription?
    }

    /// How long an output may stall before others stop waiting for it: longer than a disk takes to spin up.
    static let usualPatience = Duration.seconds(15)
    /// The queue's capacity: 64 MiB, or a minute at 60 frames per second.
    static let capacity = 3600
    /// The number of items that sound must leave free.
    private static let roomForPictures = 256
    private static let byteLimit = 64 << 20
    /// The description of the sound for containers; set before any thread starts.
    private var sound: SoundDescription?

    /// - Parameters:
    ///   - patience: how long its writer may stall while its queue is full; nil forever.
    ///   - report: called on the encode thread when it stalls or resumes, and on the thread that changes an outage.
    init(
        _ plan: OutputPlan, measuresLatency: Bool,
        control: RecordingControl = RecordingControl(), patience: Duration? = nil,
        report: @escaping @Sendable (OutputEvent) -> Void = { _ in }
    ) {
        let sink = plan.sink
        (name, choice, recovers, receivers) = (
            sink.name, plan.choice, sink.recovers, (sink as? BroadcastSink)?.receivers
        )
        rendition = plan.rendition
        folder = plan.choice.standingFolder.flatMap(Folder.absolute)
        retention = (sink as? any SegmentedSink)?.retention ?? SegmentRetention()
        (self.patience, self.report) = (patience, report)
        outages = OutageRecord { [name] change in report(.outage(name: name, change)) }
        hasRing = plan.ring != nil
        stage = WriteStage(
            items: items, sink: sink, ring: plan.ring, counters: counters, latencies: latencies,
            outages: outages,
            measuresLatency: measuresLatency, control: control)
        ringLevel = stage.ringLevel
    }

    /// Starts the writer.
    /// - Parameter ended: called on the writer's thread when everything is written, or with the reason
    ///   writing ended early.
    /// - Returns: false if the system allows no more threads.
    func start(ended: @escaping @Sendable (OutputError?) -> Void) -> Bool {
        if stage.ring != nil {
            stage.control.whenTriggered { [items, late = stage.lateTrigger] trigger in
                // If the queue is full, its pictures wake the writer as well.
                if !items.offer(.event(trigger)) { late.note(trigger) }
            }
        }
        thread = WorkerThread { [self] in
            writeError = stage.run()
            isOver.store(true, ordering: .releasing)
            ended(stage.hasGivenUp ? writeError : nil)
        }
        return thread != nil
    }

    /// Queues an access unit, waiting for room.
    /// - Returns: false if the output has ended.
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

    /// Announces that the following access units belong to a stream with other properties.
    func beginStream(_ description: StreamDescription) {
        var description = description
        description.sound = sound
        if blockage == nil, waitForRoom(0) {
            _ = push(.stream(description))
        } else {
            blockage?.stream = description
        }
    }

    /// Makes the output wait for the end of its sound, too. Call it before `start`.
    /// - Returns: whether the output takes sound.
    func expectSound(_ sound: SoundDescription) -> Bool {
        guard stage.sink.takesSound else { return false }
        self.sound = sound
        openParts.store(2, ordering: .relaxed)
        // A live receiver does not wait.
        stage.interleaver = SoundInterleaver(holdsPictures: !choice.isLive)
        return true
    }

    /// Queues a packet of sound, if there is room: pictures have precedence.
    /// - Returns: false if it is lost.
    func accept(_ packet: SoundPacket) -> Bool {
        guard !isBlocked.load(ordering: .relaxed) else { return false }
        return items.offer(.sound(packet), leaving: Self.roomForPictures)
    }

    /// Records that no more sound follows.
    func endSound() {
        guard !hasSoundEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // If there is no room, each picture waits a second for sound that does not come.
        _ = items.offer(.soundEnd)
        endPart()
    }

    private func endPart() {
        if openParts.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { items.close() }
    }

    /// Why nothing is written at present; nil while the output is written. Safe in any thread.
    package var outage: OutputOutage? { outages.current }

    /// Keeps segments, releases them, or lists those that are kept. Safe in any thread: the writer carries it out.
    /// - Parameter deadline: the latest time of the answer.
    func carryOut(
        _ command: KeepingCommand, until deadline: Instant
    ) throws(KeepingRefusal) -> KeptSegments {
        let request = KeepingRequest(command)
        guard items.offer(.keeping(request)) else { throw .busy }
        return try request.answer(until: deadline)
    }

    /// How long the pictures that its ring keeps last; nil without a ring, and while an event is written. Safe in any
    /// thread.
    package var keptTime: Duration? { hasRing ? ringLevel.time : nil }

    /// Whether no more pictures follow.
    var havePicturesEnded: Bool { isClosed.load(ordering: .acquiring) }

    private func push(_ item: OutputItem) -> Bool { items.push(item, cost: item.cost) }

    /// Ends the queue: no more access units follow.
    func close() {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        endPart()
    }

    /// Ends the queue for pictures and sound.
    func closeAll() {
        close()
        items.close()
    }

    /// Whether its writer has ended.
    var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// Whether its writer still has something to do.
    var hasUnwritten: Bool {
        guard !hasEnded else { return false }
        return isClosed.load(ordering: .acquiring)
            || counters[.accepted] > counters[.written] + counters[.lost] + counters[.passed]
    }

    /// Abandons the output unless it has ended by itself: `join` will not wait for it.
    func abandon() {
        isAbandoned = !hasEnded
        if isAbandoned { closeAll() }
    }

    /// Waits for the writer, after the encode thread has ended.
    func join() {
        guard let thread = thread.take() else { return }
        guard isAbandoned else { return thread.join() }
        thread.detach()
        counters.add(
            counters[.accepted] - counters[.written] - counters[.lost] - counters[.passed], to: .lost)
    }

    /// The outcome; read it only after `join`.
    var outcome: RecordingOutcome.Output {
        RecordingOutcome.Output(
            name: name, choice: choice, track: rendition, delivery: delivery, waits: counters[.waits],
            latency: latency,
            // The writer still uses an abandoned sink.
            segments: isAbandoned ? nil : (stage.sink as? any SegmentedSink)?.segments, receivers: receivers,
            error: error)
    }

    /// The access units written so far. If a live output waits for receivers, only those that receivers took.
    var progress: ReceiverLedger.Taken {
        if let receivers, receivers.mustBeTaken { return receivers.taken }
        return ReceiverLedger.Taken(
            bytes: counters[.bytes], units: counters[.written], keyframes: counters[.keyframes])
    }

    /// If a live output waits for receivers, only the access units that they took count as written.
    private var delivery: RecordingOutcome.Delivery {
        let progress = progress
        let isUntaken = receivers?.mustBeTaken == true
        return RecordingOutcome.Delivery(
            written: progress.units, keyframes: progress.keyframes, bytes: progress.bytes,
            lost: counters[.lost] + (isUntaken ? max(0, counters[.written] - progress.units) : 0))
    }

    /// Why writing failed; read it only after `join`.
    var error: OutputError? {
        if isAbandoned { return blockError ?? OutputError(.blocked, output: name) }
        return writeError ?? blockError
    }

    /// The latency from capture to write; nil if nothing was written or the source has no clock. Read it only
    /// after `join`.
    private var latency: RecordingOutcome.Latency? {
        guard !isAbandoned, let median = stage.latency.percentile(0.5),
            let high = stage.latency.percentile(0.99)
        else { return nil }
        return RecordingOutcome.Latency(
            median: median, percentile99: high, maximum: stage.latency.maximum)
    }
}

// MARK: Stalled outputs

extension RecordingOutput {
    /// - Returns: false if no room came in time and the output is left out.
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
        outages.set(OutputOutage(error, since: .now))
        guard recovers else {
            items.close()
            return report(.failed(error))
        }
        isBlocked.store(true, ordering: .relaxed)
        blockage = Blockage(isTold: messages.admit(at: .now) != nil)
        if blockage?.isTold == true { report(.blocked(error)) }
    }

    private func endBlockage() {
        guard let ended = blockage.take() else { return }
        isBlocked.store(false, ordering: .relaxed)
        outages.end(.blocked)
        if ended.isTold { report(.resumed(name: name, lost: ended.lost)) }
        if let stream = ended.stream { _ = push(.stream(stream)) }
    }

    /// Counts an access unit that was lost before the queue.
    private func lose() -> Bool {
        blockage?.lost += 1
        counters.add(to: .accepted)
        counters.add(to: .lost)
        return true
    }
}

// MARK: Plans, items and events

/// One output of a recording about to start: the request and the open sink for it.
package struct OutputPlan {
    /// The requested output.
    package let choice: OutputChoice
    /// The place of its rendition among the session's.
    package let rendition: Int
    /// The open sink. Only the recording's writer uses it from now on.
    package let sink: any AccessUnitSink
    /// The ring that keeps pictures in memory until a trigger; nil if everything is written.
    package let ring: EventRing.Plan?

    /// Creates a plan with an open sink.
    package init(
        _ choice: OutputChoice, rendition: Int = 0, sink: any AccessUnitSink, ring: EventRing.Plan? = nil
    ) {
        self.choice = choice
        self.rendition = rendition
        self.sink = sink
        self.ring = ring
    }
}

/// An item that an encoder sends to an output, in order.
enum OutputItem: Sendable {
    case unit(AccessUnit)
    case sound(SoundPacket)
    /// No more sound follows.
    case soundEnd
    /// The items that follow have other properties.
    case stream(StreamDescription)
    /// A trigger that a ring waits for has come.
    case event(EventTrigger)
    /// The control socket asks to keep segments.
    case keeping(KeepingRequest)

    /// Size in bytes.
    var cost: Int {
        switch self {
        case .unit(let unit): unit.count
        // Sound is small, and bounded by the number of items.
        case .sound, .stream, .event, .soundEnd, .keeping: 0
        }
    }
}

/// A change in one output while the others continue. `description` is one line.
package enum OutputEvent: Sendable, Equatable, CustomStringConvertible {
    /// The output has ended.
    case failed(OutputError)
    /// The output stalled; new data is lost until it accepts data again.
    case blocked(OutputError)
    /// The output continues with a keyframe, after losing frames.
    case resumed(name: String, lost: Int)
    /// The reason why it cannot be written has changed. The sink and the cases above report that to users.
    case outage(name: String, OutageChange)

    /// Whether to report it even if the recording succeeds in the end.
    package var isWarning: Bool { if case .outage = self { false } else { true } }

    package var description: String {
        switch self {
        case .outage(let name, let change):
            change.after.map { "\(name): not written since \($0.since.iso8601) (\($0.error))" }
                ?? "\(name): written"
        case .failed(let error): "\(error) (the other outputs continue)"
        case .blocked(let error): "\(error) (retrying; the other outputs continue)"
        case .resumed(let name, let lost): "\(name): recording again; frames lost: \(lost)"
        }
    }
}
