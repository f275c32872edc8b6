import CamPlatform
import Glibc

/// Keeps segments within their limits while their disk is mounted. Used by one thread.
///
/// Segments on a disk that is not mounted are not gone: the disk may be mounted again.
struct SegmentUpkeep {
    private let volume: Volume
    private let clock: any TimeSource
    /// Nil if nothing is ever removed.
    private let pruner: SegmentPruner?
    /// Whether segments that are kept because they may be other files were reported.
    private var hasReportedForeign = false
    /// Whether the lack of room was reported.
    private var isShortOfRoom = false

    /// Opens the segments' journal if the plan limits them.
    /// - Parameter volume: the file system of the segments' folder.
    /// - Throws: `neverFree` if the disk is smaller than the space to keep free: every segment would be
    ///   removed.
    init(_ plan: SegmentPlan, volume: Volume, clock: any TimeSource) throws(OutputError) {
        (self.volume, self.clock) = (volume, clock)
        if let floor = plan.retention.free, let space = volume.space,
            floor.bytes(of: space.total) >= space.total
        {
            throw OutputError(.neverFree(bytes: space.total), output: volume.folder)
        }
        pruner =
            plan.retention.isLimited
            ? try SegmentPruner(
                plan.retention, names: plan.allNames, calls: plan.calls, space: { volume.space }) : nil
    }

    /// Whether the disk was mounted and no longer is.
    var isDiskGone: Bool { volume.isGone }

    /// Looks at what the journal says about the recordings of earlier runs.
    /// - Returns: what to report.
    mutating func survey() -> [SegmentEvent] {
        guard let pruner else { return [] }
        let unlocked = pruner.lockFailure.map { SegmentEvent.unlocked(errno: $0, folder: volume.folder) }
        return [unlocked].compactMap(\.self) + surveyForeign(pruner)
    }

    /// Segments whose names now belong to other files, or that cannot be told from such: reported once.
    private mutating func surveyForeign(_ pruner: SegmentPruner) -> [SegmentEvent] {
        let count = pruner.foreignCount
        guard count > 0, !hasReportedForeign else { return [] }
        hasReportedForeign = true
        return [.unrecognised(count: count, folder: volume.folder)]
    }

    /// Adds a segment that begins to the journal.
    /// - Parameter paths: the segment, and its timestamps if there are any.
    /// - Returns: what to report.
    func begin(_ paths: [String]) -> SegmentEvent? { pruner?.begin(paths).map(SegmentEvent.unnoted) }

    /// Records a segment's final size in the journal.
    /// - Returns: whether the segment has left a file.
    func end(_ path: String) -> Bool {
        guard !volume.isGone else {
            pruner?.endUnseen()
            return true
        }
        let facts = FileFacts(path: path)
        let isUnknown = facts == nil && errno != ENOENT && errno != ENOTDIR
        // An empty file is about to be removed.
        let size = facts.flatMap { $0.size > 0 ? $0.size : nil }
        pruner?.end(size: size)
        return size != nil || isUnknown
    }

    /// Removes the segments that exceed the limits.
    /// - Parameter size: bytes of the segment that is being written.
    /// - Returns: what to report.
    mutating func prune(size: Int) -> [SegmentEvent] {
        guard let pruner, !volume.isGone else { return [] }
        var events = pruner.prune(now: clock.wallTime, size: size).map(SegmentEvent.removed)
        events += surveyForeign(pruner)
        let isHelpless = pruner.isHelpless
        if isHelpless, !isShortOfRoom { events.append(.shortOfRoom(folder: volume.folder)) }
        isShortOfRoom = isHelpless
        return events
    }

    /// Removes the segments that are too old, and makes the room that must stay free.
    /// - Returns: what to report.
    func pruneByTime() -> [SegmentEvent] {
        guard let pruner, !volume.isGone else { return [] }
        return pruner.pruneByTime(now: clock.wallTime).map(SegmentEvent.removed)
    }

    /// Makes room for the next segment on a full disk.
    /// - Returns: what to report; nothing if no segment could make room.
    func makeRoom() -> [SegmentEvent] {
        guard let pruner, !volume.isGone else { return [] }
        return pruner.makeRoom(now: clock.wallTime).map(SegmentEvent.removed)
    }
}
