import Bitstream
import CamPlatform
import CamSound
import Synchronization
import CamStorage
import Containers

/// A writer thread's work: passes access units to one sink.
struct WriteStage {
    let items: BoundedQueue<OutputItem>
    let sink: any AccessUnitSink
    let counters: Counters<OutputCounter>
    /// Whether timestamps use this machine's clock, so that latency can be measured.
    let measuresLatency: Bool
    /// The same latencies as `latency`, for other threads.
    let latencies: LatencyBuckets
    /// Why nothing is written at present, for other threads.
    let outages: OutageRecord
    /// The source of the triggers that a ring waits for.
    let control: RecordingControl
    /// The ring that keeps pictures in memory until a trigger; nil if everything is written.
    var ring: EventRing?
    /// How long the pictures in the ring last, for other threads.
    let ringLevel = RingLevel()
    /// The event of the latest trigger that came from an event with an end.
    private var lastingEvent: LastingEvent?
    let lateTrigger = LateTrigger()
    /// Orders sound and pictures; nil without sound.
    var interleaver: SoundInterleaver?
    var latency = LatencyHistogram()
    /// Whether the sink failed before the stream ended.
    private(set) var hasGivenUp = false
    /// Whether the sound has ended while pictures may still come.
    private var hasSoundEnded = false
    /// The time of the sink's next maintenance; nil before the first item.
    private var nextMaintenance: Instant?
    /// The time of the next look at the disk of a ring that waits for an event.
    private var nextLook = Instant.distantPast
    /// The most bytes that the ring has kept.
    private var eventSize = 0
    private var failure: OutputError?
    private var isInOutage = false

    /// The time between looks; tests shorten it.
    var lookInterval = Duration.seconds(1)

    init(
        items: BoundedQueue<OutputItem>, sink: any AccessUnitSink, ring: EventRing.Plan? = nil,
        counters: Counters<OutputCounter>, latencies: LatencyBuckets = LatencyBuckets(),
        outages: OutageRecord = OutageRecord(),
        measuresLatency: Bool,
        control: RecordingControl
    ) {
        self.items = items
        self.sink = sink
        self.counters = counters
        (self.latencies, self.outages) = (latencies, outages)
        self.measuresLatency = measuresLatency
        self.control = control
        self.ring = ring.map(EventRing.init)
    }

    /// Runs until the queue is closed and empty, or the sink fails and cannot recover.
    /// - Returns: the first error, if any.
    mutating func run() -> OutputError? {
        // A trigger may have come before the outputs were open.
        if let trigger = control.latestTrigger { beginEvent(trigger) }
        while let item = nextItem() {
            if let trigger = lateTrigger.take() { beginEvent(trigger) }
            if case .keeping(let request) = item {
                carryOut(request)
                continue
            }
            if interleaver == nil {
                take(item)
            } else {
                interleaver?.add(item)
                while let next = interleaver?.next() { take(next) }
            }
            countRetracted()
            if failure != nil, !sink.recovers {
                giveUp()
                return failure
            }
        }
        interleaver?.end()
        while let next = interleaver?.next() { take(next) }
        if let trigger = lateTrigger.take() { beginEvent(trigger) }
        do throws(OutputError) { try sink.finish() } catch { note(error) }
        countRetracted()
        return failure
    }

    /// Waits for an item; during the wait, maintains the sink and looks for outages.
    private mutating func nextItem() -> OutputItem? {
        while true {
            let now = Instant.now
            if let interval = sink.maintenanceInterval, now >= (nextMaintenance ?? .distantPast) {
                if nextMaintenance != nil { sink.maintain() }
                nextMaintenance = now + interval
            }
            if ring != nil, now >= nextLook {
                lookForOutage()
                nextLook = now + lookInterval
            }
            let due = min(nextMaintenance ?? .distantFuture, ring == nil ? .distantFuture : nextLook)
            guard due < .distantFuture else { return items.pop() }
            switch items.pop(until: due) {
            case .element(let item): return item
            case .end: return nil
            case .due: continue
            }
        }
    }

    /// A ring may wait for days, so its disk is examined without writing. An event's file begins with all that the
    /// ring keeps.
    private mutating func lookForOutage() {
        guard let ring, ring.isWaiting else { return }
        eventSize = max(eventSize, ring.byteCount)
        sink.lookForOutage(room: eventSize)
        if isInOutage || sink.currentOutage != nil { noteOutage() }
    }

    /// Writes the ring's content right after a trigger, even if no other picture comes. Extends an event that
    /// lasts.
    private mutating func beginEvent(_ trigger: EventTrigger) {
        lastingEvent = trigger.event ?? lastingEvent
        guard let kept = ring?.trigger() else { return }
        ringLevel.set(ring?.heldTime)
        for item in kept {
            switch item {
            case .picture(let unit):
                counters.add(-1, to: .passed)
                write(unit, isLate: true)
            case .sound(let packet): write(packet)
            }
        }
    }

    private mutating func take(_ item: OutputItem) {
        switch item {
        case .unit(let unit):
            if hasSoundEnded { endSound() }
            take(unit)
        case .sound(let packet): if ring?.next(packet) != false { write(packet) }
        case .stream(let description): beginStream(description)
        case .event(let trigger): beginEvent(trigger)
        case .soundEnd: hasSoundEnded = true
        case .keeping(let request): carryOut(request)
        }
    }

    private func carryOut(_ request: KeepingRequest) {
        request.carryOut { (command) throws(KeepingRefusal) in
            guard let sink = sink as? any SegmentedSink else { throw .noLimits }
            return try sink.carryOut(command)
        }
    }

    /// Tells the sink, which may wait for sound as well, that only pictures follow.
    private mutating func endSound() {
        hasSoundEnded = false
        do throws(OutputError) { try sink.endSound() } catch { note(error) }
    }

    private mutating func write(_ packet: SoundPacket) {
        do throws(OutputError) { try sink.write(packet) } catch { note(error) }
    }

    private mutating func take(_ unit: AccessUnit) {
        switch ring?.next(unit, isHeld: lastingEvent?.lasts(beyond: unit.timestamp) == true) {
        case nil, .write?: write(unit)
        case .keep?: counters.add(to: .passed)
        case .endEvent?:
            counters.add(to: .passed)
            do throws(OutputError) { try sink.endFile() } catch { note(error) }
        }
        if let ring { ringLevel.set(ring.heldTime) }
    }

    /// Clears the ring, whose pictures belong to the previous stream.
    private mutating func beginStream(_ description: StreamDescription) {
        ring?.clear()
        do throws(OutputError) { try sink.beginStream(description) } catch { note(error) }
    }

    /// - Parameter isLate: whether the unit was kept in the ring, so its latency is not recorded.
    private mutating func write(_ unit: AccessUnit, isLate: Bool = false) {
        do throws(OutputError) { try sink.write(unit) } catch {
            counters.add(to: .lost)
            noteOutage()
            return note(error)
        }
        if isInOutage { noteOutage() }
        counters.add(to: .written)
        if unit.isIDR { counters.add(to: .keyframes) }
        counters.add(unit.count, to: .bytes)
        if measuresLatency, !isLate { record(.now - unit.timestamp) }
    }

    private mutating func record(_ time: Duration) {
        latency.record(time)
        latencies.record(time)
    }

    /// Moves access units from written to lost if a container could not finish their fragment.
    private func countRetracted() {
        let lost = sink.takeRetracted()
        guard lost.count > 0 else { return }
        counters.add(-lost.count, to: .written)
        counters.add(-lost.keyframes, to: .keyframes)
        counters.add(-lost.bytes, to: .bytes)
        counters.add(lost.count, to: .lost)
    }

    private mutating func noteOutage() {
        let outage = sink.currentOutage
        isInOutage = outage != nil
        outages.set(outage)
    }

    private mutating func note(_ error: OutputError) { failure = failure ?? error }

    /// Ends the output and counts its queue as lost.
    private mutating func giveUp() {
        hasGivenUp = true
        if let failure { outages.set(OutputOutage(failure, since: .now)) }
        items.close()
        interleaver?.end()
        while let item = interleaver?.next() ?? items.pop() {
            if case .unit = item { counters.add(to: .lost) }
        }
    }
}

/// How long the pictures in a ring last. Set by the output's writer, read by any thread.
final class RingLevel: Sendable {
    private static let none: Int64 = -1
    private let nanoseconds = Atomic<Int64>(0)

    /// Nil while an event is written.
    var time: Duration? {
        let value = nanoseconds.load(ordering: .relaxed)
        return value == Self.none ? nil : .nanoseconds(value)
    }

    func set(_ time: Duration?) {
        nanoseconds.store(time.map { max(0, $0.inNanoseconds) } ?? Self.none, ordering: .relaxed)
    }
}

/// Why an output is not written at present. Set by the output's threads, read by any thread.
final class OutageRecord: @unchecked Sendable {
    // Safe to share: the state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private var outage: OutputOutage?
    private let changed: @Sendable (OutageChange) -> Void

    /// - Parameter changed: called in the thread that makes a change, one change after the other. It must not block.
    init(changed: @escaping @Sendable (OutageChange) -> Void = { _ in }) { self.changed = changed }

    /// The current outage; nil while the output is written.
    var current: OutputOutage? { monitor.withLock { outage } }

    func set(_ outage: OutputOutage?) { monitor.withLock { replace(with: outage) } }

    /// Ends an outage of one kind, and no other.
    func end(_ kind: OutputError.Kind) {
        monitor.withLock { if outage?.error.kind == kind { replace(with: nil) } }
    }

    private func replace(with next: OutputOutage?) {
        let change = OutageChange(before: outage, after: next)
        outage = next
        if change.before?.error != change.after?.error { changed(change) }
    }
}

/// A change in what keeps an output from being written.
package struct OutageChange: Sendable, Equatable {
    /// The outage before and after the change; nil for none.
    let before, after: OutputOutage?
}

/// A trigger that found an output's queue full or closed, so that no item in the queue stands for it.
final class LateTrigger: Sendable {
    private let pending = Mutex<EventTrigger?>(nil)

    /// Records a trigger.
    func note(_ trigger: EventTrigger) {
        pending.withLock { $0 = EventTrigger(event: trigger.event ?? $0?.event) }
    }

    /// Returns the triggers since the last call as one, or nil.
    func take() -> EventTrigger? { pending.withLock { $0.take() } }
}
