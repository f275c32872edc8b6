import CamPlatform
import Glibc
import Containers

/// Keeps segments within their limits while their disk is mounted. Used by one thread.
///
/// Segments on a disk that is not mounted are not gone: the disk may be mounted again.
struct SegmentUpkeep {
    private let volume: Volume
    private let clock: any TimeSource
    /// Nil if nothing is ever removed.
    private let pruner: SegmentPruner?
    /// Whether the foreign files among the segments were reported.
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

    /// Examines the journal's entries about recordings of earlier runs.
    /// - Returns: the events to report.
    mutating func survey() -> [SegmentEvent] {
        guard let pruner else { return [] }
        let unlocked = pruner.lockFailure.map { SegmentEvent.unlocked(errno: $0, folder: volume.folder) }
        return [unlocked].compactMap(\.self) + surveyForeign(pruner)
    }

    /// Reports once the segments whose names now belong to other files, or that
    /// cannot be distinguished from such.
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
        var (size, isUnknown) = (Int?.none, false)
        do throws(FileLocation.Failure) {
            let facts = try FileFacts.read(path)
            // An empty file is about to be removed.
            if facts.size > 0 { size = facts.size }
        } catch {
            isUnknown = error.errno != ENOENT && error.errno != ENOTDIR
        }
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

    /// The error with which a segment cannot begin, because those that are kept fill the limits; nil if it can.
    var obstacle: OutputError? {
        pruner?.isFullOfKept == true && !volume.isGone ? OutputError(.fullOfKept, output: volume.folder) : nil
    }

    /// Keeps segments, releases them, or lists those that are kept.
    func carryOut(_ command: KeepingCommand) throws(KeepingRefusal) -> KeptSegments {
        guard let pruner else { throw .noLimits }
        guard !volume.isGone else { throw .failed(OutputError(.volumeGone, output: volume.folder)) }
        return try pruner.carryOut(command)
    }

    /// Removes the segments that are too old, and frees the space that must stay free.
    /// - Returns: the events to report.
    func pruneByTime() -> [SegmentEvent] {
        guard let pruner, !volume.isGone else { return [] }
        return pruner.pruneByTime(now: clock.wallTime).map(SegmentEvent.removed)
    }

    /// Makes room for the next segment on a full disk.
    /// - Returns: the events to report; empty if no segment could make room.
    func makeRoom() -> [SegmentEvent] {
        guard let pruner, !volume.isGone else { return [] }
        return pruner.makeRoom(now: clock.wallTime).map(SegmentEvent.removed)
    }
}

// MARK: - Removing segments

/// Removes a pattern's oldest segments. Used by one thread.
///
/// A segment that cannot be removed is retried with each following segment. Until then it does not count
/// towards the limits: it neither protects other segments nor causes their removal.
final class SegmentPruner {
    private let retention: SegmentRetention
    private let journal: SegmentJournal
    private let space: () -> (total: Int, free: Int)?
    private var isWriting = false
    /// Whether the disk has been full: from then on room is made for a segment before it begins.
    private var isCramped = false
    /// The next segment's expected bytes, estimated from those before, which differ in size.
    private var expectedSize = 0
    /// Removed bytes that the file system does not show as free yet; the bytes free then, and when.
    private var unseen: (bytes: Int, free: Int, time: WallTime)?

    /// A clock that was set ahead makes every segment too old. Therefore a check removes at most this number,
    /// or this share, of the segments that have been too old for more than a minute.
    private static let mostByAge = 2
    private static let shareByAge = 64
    private static let graceByAge = Duration.seconds(60)
    /// The longest time until a file system reports removed bytes as free: btrfs does so at its next commit,
    /// every 30 seconds.
    private static let delay = Duration.seconds(60)

    /// - Parameter space: returns the file system's bytes.
    init(
        _ retention: SegmentRetention, names: [FileNamePattern], calls: FileCalls = FileCalls(),
        space: @escaping () -> (total: Int, free: Int)?
    ) throws(OutputError) {
        self.retention = retention
        self.space = space
        journal = try SegmentJournal(names: names, calls: calls)
    }

    /// Adds a segment that begins to the journal.
    /// - Parameter paths: the segment, and its timestamps if there are any.
    /// - Returns: the error because of which later runs will not recognize the segment, only for the first of
    ///   successive failures.
    func begin(_ paths: [String]) -> OutputError? {
        isWriting = true
        return journal.begin(paths)
    }

    /// Records the current segment's final size in the journal.
    /// - Parameter size: bytes; nil if no file is left.
    func end(size: Int?) {
        guard isWriting else { return }
        isWriting = false
        guard let size else { return journal.cancel() }
        expectedSize = max(size, expectedSize / 2)
        journal.end(size: size)
    }

    /// Ends the current segment without recording its size, because its disk is not mounted. The time of
    /// creation alone identifies the file later.
    func endUnseen() { isWriting = false }

    /// Removes segments beyond the limits, at the beginning of a segment and while it grows.
    /// - Parameter size: bytes of the segment that is being written.
    /// - Returns: the segments that were removed.
    func prune(now: WallTime, size: Int) -> [String] {
        var removed = isWriting ? [] : journal.removeStuck()
        if !isWriting { journal.forgetMissing() }
        if let age = retention.age, !isWriting { removed += removeOlder(than: now - age) }
        while hasRemovable, isOverLimit(size) {
            if let segment = journal.removeOldest() { removed.append(segment) }
        }
        return (removed + free(wantedRoom, now: now)).map(\.path)
    }

    /// Removes segments that are too old and makes room, even while no segment begins or grows.
    /// - Returns: the segments that were removed.
    func pruneByTime(now: WallTime) -> [String] {
        var removed = journal.removeStuck()
        if let age = retention.age { removed += removeOlder(than: now - age) }
        if retention.free != nil { removed += free(floor(space()?.total ?? 0), now: now) }
        return removed.map(\.path)
    }

    /// The number of segments in the journal whose names now belong to other files.
    var foreignCount: Int { journal.foreign.count }

    /// The errno of locking the journal; nil if other recorders are locked out.
    var lockFailure: Int32? { journal.lockFailure }

    private func removeOlder(than time: WallTime) -> [SegmentJournal.Removed] {
        var removed: [SegmentJournal.Removed] = []
        var left = max(Self.mostByAge, journal.entries.count / Self.shareByAge)
        while hasRemovable {
            switch journal.oldestAge {
            case .unknown: return removed
            case .missing: break
            case .written(let last):
                if last >= time { return removed }
                if last < time - Self.graceByAge { left -= 1 }
                if left < 0 { return removed }
            }
            if let segment = journal.removeOldest() { removed.append(segment) }
        }
        return removed
    }

    /// Makes room for the next segment on a full disk.
    /// - Returns: the segments that were removed; empty if there were none.
    func makeRoom(now: WallTime) -> [String] {
        (isCramped, unseen) = (true, nil)
        guard let before = space()?.free else { return [] }
        let room = before.addingSaturated(max(1, expectedSize))
        return free(room, of: before, now: now).map(\.path)
    }

    /// Whether there is a segment that may be removed: not the one being written, and none that is kept.
    private var hasRemovable: Bool { journal.hasRemovable(isWriting: isWriting) }

    /// Whether the segments that are kept leave no room within the limits for one that begins.
    var isFullOfKept: Bool {
        guard !isWriting, !journal.entries.isEmpty, !hasRemovable else { return false }
        if let most = retention.bytes, journal.bytes >= most { return true }
        return retention.count.map { journal.entries.count >= $0 } ?? false
    }

    /// Keeps segments, releases them, or lists those that are kept.
    func carryOut(_ command: KeepingCommand) throws(KeepingRefusal) -> KeptSegments {
        try journal.carryOut(command)
    }

    private func isOverLimit(_ size: Int) -> Bool {
        // The segment that is about to begin counts, too.
        let count = journal.entries.count + (isWriting ? 0 : 1)
        if let most = retention.count, count > most { return true }
        if let most = retention.bytes, journal.bytes.addingSaturated(size) > most { return true }
        return false
    }

    /// Whether too little space is free and no segment could make room.
    var isHelpless: Bool {
        guard !hasRemovable, let space = space() else { return false }
        return space.free < floor(space.total)
    }

    private func floor(_ total: Int) -> Int { retention.free?.bytes(of: total) ?? 0 }

    /// The number of bytes that should be free now.
    private var wantedRoom: Int {
        let room = isCramped && !isWriting ? expectedSize.addingSaturated(expectedSize) : 0
        return max(room, retention.free == nil ? 0 : floor(space()?.total ?? 0))
    }

    /// Removes the oldest segments until enough bytes are free, including removed bytes that the file system
    /// does not report as free yet.
    private func free(_ wanted: Int, now: WallTime) -> [SegmentJournal.Removed] {
        guard wanted > 0, let before = space()?.free else { return [] }
        return free(wanted, of: before, now: now)
    }

    /// - Parameter before: the bytes that are free. Read once: others may be filling the disk.
    private func free(_ wanted: Int, of before: Int, now: WallTime) -> [SegmentJournal.Removed] {
        look(at: before, now: now)
        let expected = unseen?.bytes ?? 0
        var (removed, bytes) = ([SegmentJournal.Removed](), 0)
        while hasRemovable, before.addingSaturated(expected).addingSaturated(bytes) < wanted {
            guard let segment = journal.removeOldest() else { continue }
            removed.append(segment)
            bytes = bytes.addingSaturated(segment.size)
        }
        guard !removed.isEmpty, let after = space()?.free else { return removed }
        unseen = (max(0, expected.addingSaturated(bytes) - max(0, after - before)), after, now)
        return removed
    }

    /// Deducts the bytes that have become free since the last removal: they may be the removed bytes.
    private func look(at free: Int, now: WallTime) {
        guard let last = unseen else { return }
        let bytes = last.bytes - max(0, free - last.free)
        let isOver = bytes <= 0 || !(.zero...Self.delay).contains(now - last.time)
        unseen = isOver ? nil : (bytes, free, last.time)
    }
}

// MARK: - Before recording starts

/// Enforces the limits on segments before recording starts: waiting for a camera
/// may take weeks. Used by one thread.
package final class RetentionWhileWaiting {
    private let upkeep: SegmentUpkeep
    private let clock: any TimeSource
    private let interval: Duration
    private var next: Instant

    /// Manages the segments that earlier runs recorded with the same plan, and locks out other recorders
    /// until it is released.
    ///
    /// Nil if there are no such segments, or if they cannot be managed now: recording reports the cause when
    /// it starts.
    package init?(_ plan: SegmentPlan, clock: any TimeSource = SystemTime()) {
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
    package func maintain() -> [SegmentEvent] {
        guard clock.now >= next, !upkeep.isDiskGone else { return [] }
        next = clock.now + interval
        return upkeep.pruneByTime()
    }
}
