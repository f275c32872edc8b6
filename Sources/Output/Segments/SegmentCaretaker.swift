import CamPlatform

/// Enforces the limits on segments before recording starts: camrec may wait weeks for a camera. Used by one thread.
public final class SegmentCaretaker {
    private let upkeep: SegmentUpkeep
    private let clock: any TimeSource
    private let interval: Duration
    private var next: Instant

    /// Takes charge of the segments that earlier runs recorded with the same plan. Other recorders cannot use them
    /// until this is released.
    ///
    /// Nil if there are no such segments, or they cannot be managed now: recording reports the cause when it starts.
    public init?(_ plan: SegmentPlan, clock: any TimeSource = SystemTime()) {
        // No files are created before recording starts, so the journal has to exist already.
        guard let interval = plan.retention.maintenanceInterval,
            FileFacts(path: SegmentJournal.path(for: plan.names))?.isRegular == true,
            let upkeep = try? SegmentUpkeep(plan, volume: Volume(folder: plan.names.folder), clock: clock)
        else { return nil }
        (self.upkeep, self.clock, self.interval) = (upkeep, clock, interval)
        next = clock.now
    }

    /// Removes segments that exceed the limits, if the next check is due.
    /// - Returns: a `removed` event for each.
    public func maintain() -> [SegmentEvent] {
        guard clock.now >= next, !upkeep.isDiskGone else { return [] }
        next = clock.now + interval
        return upkeep.pruneByTime()
    }
}
