import Files

/// Keeps the limits of segments while there is nothing to record yet: a camera that is waited for may stay away for
/// weeks. Used by one thread.
public final class SegmentCaretaker {
    private let keeper: SegmentKeeper
    private let volume: Volume
    private let clock: SegmentClock
    private let interval: Int64
    private var next: Int64

    /// Looks after what an earlier run recorded by the same plan; no other recorder can while it does.
    ///
    /// Nil where there is nothing to look after. That something keeps it from that is told when recording begins.
    public init?(_ plan: SegmentedSink.Plan, clock: SegmentClock = .system) {
        let names = [plan.names] + [plan.timestamps].compactMap { $0 }
        let volume = Volume(folder: plan.names.folder)
        // Nothing is made before there is something to record.
        guard let interval = plan.retention.maintenanceInterval,
            FileFacts(path: SegmentJournal.path(for: plan.names))?.isRegular == true,
            let keeper = try? SegmentKeeper(plan.retention, names: names, space: { volume.space })
        else { return nil }
        (self.keeper, self.volume, self.clock, self.interval) = (keeper, volume, clock, interval)
        next = clock.monotonic()
    }

    /// Removes what the limits say, where it is time to look again.
    /// - Returns: what happened.
    public func maintain() -> [SegmentEvent] {
        guard clock.monotonic() >= next, !volume.isGone else { return [] }
        next = clock.monotonic() + interval
        return keeper.tidyByTime(now: clock.wall()).map(SegmentEvent.removed)
    }
}
