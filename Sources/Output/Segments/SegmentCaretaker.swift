import Files

/// Enforces the limits on segments before recording starts: camrec may wait weeks for a camera. Used by one thread.
public final class SegmentCaretaker {
    private let upkeep: SegmentUpkeep
    private let clock: SegmentClock
    private let interval: Int64
    private var next: Int64

    /// Takes charge of the segments that earlier runs recorded with the same plan. Other recorders cannot use them
    /// until this is released.
    ///
    /// Nil if there are no such segments, or they cannot be managed now: recording reports the cause when it starts.
    public init?(_ plan: SegmentPlan, clock: SegmentClock = .system) {
        // No files are created before recording starts, so the journal has to exist already.
        guard let interval = plan.retention.maintenanceInterval,
            FileFacts(path: SegmentJournal.path(for: plan.names))?.isRegular == true,
            let upkeep = try? SegmentUpkeep(plan, volume: Volume(folder: plan.names.folder), clock: clock)
        else { return nil }
        (self.upkeep, self.clock, self.interval) = (upkeep, clock, interval)
        next = clock.monotonic()
    }

    /// Removes segments that exceed the limits, if the next check is due.
    /// - Returns: a `removed` event for each.
    public func maintain() -> [SegmentEvent] {
        guard clock.monotonic() >= next, !upkeep.isDiskGone else { return [] }
        next = clock.monotonic() + interval
        return upkeep.pruneByTime()
    }
}
