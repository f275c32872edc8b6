import Files

/// Enforces the limits on segments before recording starts: camrec may wait weeks for a camera. Used by one thread.
public final class SegmentCaretaker {
    private let keeper: SegmentKeeper
    private let volume: Volume
    private let clock: SegmentClock
    private let interval: Int64
    private var next: Int64

    /// Takes charge of the segments that earlier runs recorded with the same plan. Other recorders cannot use them
    /// until this is released.
    ///
    /// Nil if there are no such segments, or they cannot be managed now: recording reports the cause when it starts.
    public init?(_ plan: SegmentedSink.Plan, clock: SegmentClock = .system) {
        let names = [plan.names] + [plan.timestamps].compactMap { $0 }
        let volume = Volume(folder: plan.names.folder)
        // No files are created before recording starts, so the journal has to exist already.
        guard let interval = plan.retention.maintenanceInterval,
            FileFacts(path: SegmentJournal.path(for: plan.names))?.isRegular == true,
            let keeper = try? SegmentKeeper(plan.retention, names: names, space: { volume.space })
        else { return nil }
        (self.keeper, self.volume, self.clock, self.interval) = (keeper, volume, clock, interval)
        next = clock.monotonic()
    }

    /// Removes segments that exceed the limits, if the next check is due.
    /// - Returns: a `removed` event for each.
    public func maintain() -> [SegmentEvent] {
        guard clock.monotonic() >= next, !volume.isGone else { return [] }
        next = clock.monotonic() + interval
        return keeper.tidyByTime(now: clock.wall()).map(SegmentEvent.removed)
    }
}
