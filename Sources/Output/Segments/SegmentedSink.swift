import Bitstream
import Files
import Glibc
import Threading

/// A recording in several files, each of which begins with an IDR and is whole by itself. No access unit is
/// lost or doubled between two of them.
///
/// There are two kinds. A recording in segments begins a file when its schedule says so, names each by the time
/// it begins at, never overwrites one, removes old ones, and tries on where a file cannot be written: what comes
/// until then is lost, and counted by whoever calls. A recording in one file begins another only where the
/// stream's picture format changes, and ends where writing fails.
public final class SegmentedSink: AccessUnitSink {
    /// Makes the sink of a file that must not exist.
    public typealias Opening = (String, StreamDescription) throws(OutputError) -> any AccessUnitSink

    public let name: String
    /// Whether it tries on where a file cannot be written.
    public let recovers: Bool
    /// What came of it so far. To be read by the writer's thread, or after it.
    public private(set) var summary = SegmentSummary()
    public var segments: SegmentSummary? { recovers || summary.count > 1 ? summary : nil }
    public let takesPictures: Bool
    public let maintenanceInterval: Int64?

    private var names: SegmentNames
    private let timestampNames: SegmentNames?
    private var stream: StreamDescription
    private let open: Opening
    private let openTimestamps: Opening?
    private let clock: SegmentClock
    private let report: (SegmentEvent) -> Void
    private let synchronizer: DiskSynchronizer?
    private let volume: Volume
    private let keeper: SegmentKeeper?
    private var schedule: SegmentSchedule?
    private var segment: Segment?
    /// The next IDR begins a file.
    private var isCutDue = false
    private var outage: Outage?
    /// Lost after it was written.
    private var retracted = WrittenUnits()
    private var messages = MessageLimit()
    private var timestampMessages = MessageLimit()
    /// It was told that there is too little room.
    private var isShortOfRoom = false
    /// The first thing that went wrong beside the pictures themselves.
    private var sideFailure: OutputError?

    /// What a recording in segments is.
    public struct Plan: Sendable {
        /// Of the segments.
        public var names: SegmentNames
        /// Of the pictures' times, a file beside each segment; nil for none.
        public var timestamps: SegmentNames?
        /// Nil where something else ends them (`endFile`).
        public var length: SegmentSchedule.Length?
        /// Which ones stay.
        public var retention = SegmentRetention()
        /// Whether pictures are in them, and not only what belongs to those of another output.
        public var takesPictures = true

        /// A file for each length, none of which is removed.
        public init(names: SegmentNames, length: SegmentSchedule.Length?) {
            self.names = names
            self.length = length
        }
    }

    /// A file that is being written.
    private struct Segment {
        let sink: any AccessUnitSink
        let path: String
        var timestamps: (any AccessUnitSink)?
        /// On CLOCK_MONOTONIC.
        let beginning: Int64
        /// Of access units.
        var bytes = 0
        /// Those since the limits were looked at last.
        var uncheckedBytes = 0
    }

    /// A time in which nothing can be written.
    private struct Outage {
        let error: OutputError
        /// Whether whoever listens was told of it.
        let isTold: Bool
        /// When the next attempt may be, on CLOCK_MONOTONIC.
        var end: Int64 = 0
        var pause: Int64 = 0
        var lost = 0
        /// When something could be written again; nil until then.
        var resumption: Int64?
    }

    private static let shortestPause: Int64 = 1_000_000_000
    private static let longestPause: Int64 = 10_000_000_000
    /// An outage so soon after another one goes on with its pauses.
    private static let steadiness: Int64 = 10_000_000_000
    /// So many names are tried for a segment.
    private static let mostNames = 10_000
    /// So many bytes of a segment may be written before the limits are looked at.
    private static let bytesBetweenChecks = 1 << 20

    /// A recording in segments. The pattern's folder is made; the first file comes with the first IDR.
    /// - Parameters:
    ///   - open: makes the sink of a segment.
    ///   - openTimestamps: makes the sink of a segment's timestamps, where the plan has any.
    ///   - synchronizer: the one that both use.
    ///   - report: told of events, on the writer's thread.
    public init(
        _ plan: Plan, stream: StreamDescription, open: @escaping Opening, openTimestamps: Opening? = nil,
        synchronizer: DiskSynchronizer? = nil, clock: SegmentClock = .system,
        report: @escaping (SegmentEvent) -> Void = { _ in }
    ) throws(OutputError) {
        name = plan.names.pattern
        (recovers, takesPictures) = (true, plan.takesPictures)
        (names, timestampNames) = (plan.names, plan.timestamps)
        (self.stream, self.clock, self.report) = (stream, clock, report)
        (self.open, self.openTimestamps, self.synchronizer) = (open, openTimestamps, synchronizer)
        schedule = plan.length.map(SegmentSchedule.init)
        let folder = plan.names.folder
        for names in [plan.names] + [plan.timestamps].compactMap({ $0 }) {
            // Folders that the time names are made; those ahead of them may be mistyped, or not mounted.
            guard access(names.folder + "/", W_OK | X_OK) == 0 else {
                throw OutputError(.notCreated(errno: errno), output: names.pattern)
            }
        }
        let volume = Volume(folder: folder)
        self.volume = volume
        if let floor = plan.retention.free, let space = volume.space,
            floor.bytes(of: space.total) >= space.total
        {
            throw OutputError(.neverFree(bytes: space.total), output: folder)
        }
        keeper =
            plan.retention.isLimited
            ? try SegmentKeeper(
                plan.retention, names: [plan.names] + [plan.timestamps].compactMap { $0 },
                space: { volume.space }) : nil
        maintenanceInterval = plan.retention.maintenanceInterval
        if let count = keeper?.foreignCount, count > 0 {
            report(.unrecognised(count: count, folder: folder))
        }
        maintain()
    }

    /// A recording in one file, which is open already.
    /// - Parameters:
    ///   - first: writes the file.
    ///   - path: its name.
    ///   - open: makes the sink of a further file.
    ///   - synchronizer: the one that they use.
    ///   - report: told of events, on the writer's thread.
    public init(
        first: any AccessUnitSink, path: String, stream: StreamDescription, open: @escaping Opening,
        synchronizer: DiskSynchronizer? = nil, clock: SegmentClock = .system,
        report: @escaping (SegmentEvent) -> Void = { _ in }
    ) {
        name = first.name
        (recovers, takesPictures) = (false, first.takesPictures)
        (names, timestampNames) = (SegmentNames(path, expandsTime: false), nil)
        (self.stream, self.clock, self.report) = (stream, clock, report)
        (self.open, openTimestamps, self.synchronizer) = (open, nil, synchronizer)
        (volume, keeper, maintenanceInterval) = (Volume(folder: Folder.of(path)), nil, nil)
        segment = Segment(sink: first, path: path, beginning: clock.monotonic())
        summary = SegmentSummary(count: 1, first: path, last: path)
    }

    /// The file that is being written.
    public var identity: FileIdentity? { segment?.sink.identity }

    public func write(_ unit: AccessUnit) throws(OutputError) {
        if schedule?.enters(unit) == true { isCutDue = true }
        if unit.isIDR, isCutDue || segment == nil { try begin(with: unit) }
        guard let sink = segment?.sink else { throw loss() }
        do throws(OutputError) { try sink.write(unit) } catch {
            if !recovers { retract(from: sink) }
            throw interrupt(error)
        }
        if outage != nil, outage?.resumption == nil { resume() }
        writeTimestamp(of: unit)
        segment?.bytes += unit.count
        segment?.uncheckedBytes += unit.count
        if let segment, segment.uncheckedBytes >= Self.bytesBetweenChecks {
            self.segment?.uncheckedBytes = 0
            tidy(size: segment.bytes)
        }
    }

    public func beginStream(_ description: StreamDescription) throws(OutputError) {
        stream = description
        try endFile()
    }

    public func endFile() throws(OutputError) {
        do throws(OutputError) { try endSegment() } catch {
            guard recovers else { throw error }
            tellAside(error)
        }
        if let error = synchronizer?.takeFailure() { tellAside(error) }
    }

    /// Old segments go also while nothing is written: in a ring's silence, an outage, at the start.
    public func maintain() {
        guard let keeper, !volume.isGone else { return }
        for path in keeper.tidyByTime(now: clock.wall()) { noteRemoved(path) }
    }

    public func finish() throws(OutputError) {
        try endFile()
        synchronizer?.finish()
        if let error = sideFailure ?? synchronizer?.takeFailure() { throw error }
    }

    public func takeRetracted() -> WrittenUnits { retracted.takeAll() }

    /// A file is not whole that has ended.
    private func tellAside(_ error: OutputError) {
        sideFailure = sideFailure ?? error
        if messages.admit(at: clock.monotonic()) != nil { report(.interrupted(error)) }
    }
}

// MARK: Segments

extension SegmentedSink {
    private func begin(with unit: AccessUnit) throws(OutputError) {
        if let outage, outage.resumption == nil, clock.monotonic() < outage.end { throw loss() }
        try endFile()
        do throws(OutputError) {
            tidy(size: 0)
            segment = try openSegment()
        } catch { throw interrupt(summary.count == 0 ? error : error.asInterruption) }
        isCutDue = false
        schedule?.begin(with: unit)
        guard let segment else { return }
        summary.count += 1
        summary.first = summary.first ?? segment.path
        summary.last = segment.path
        // That a file could be made says nothing of a full disk.
        if outage == nil || outage?.resumption != nil { report(.began(path: segment.path)) }
    }

    /// Opens a file, and the one for its timestamps, under the next name that nobody has.
    private func openSegment() throws(OutputError) -> Segment {
        guard !volume.isGone else { throw OutputError(.volumeGone, output: names.folder) }
        let time = clock.wall()
        for _ in 0..<Self.mostNames {
            let path = names.next(at: time)
            let times = timestampNames.map { $0.companion(at: time, counter: names.lastCounter) }
            if times == path { throw OutputError(.usedTwice("the timestamps"), output: path) }
            if let times, FileFacts(path: times) != nil { continue }
            do throws(OutputError) {
                let sink = try makeFolder(of: path, andOpen: open)
                let timestamps = times.flatMap(openTimestamps(at:))
                let files = [path] + (timestamps == nil ? [] : [times]).compactMap { $0 }
                if let error = keeper?.begin(files) { report(.unnoted(error)) }
                return Segment(
                    sink: sink, path: path, timestamps: timestamps, beginning: clock.monotonic())
            } catch {
                guard error.kind == .exists else { throw error }
            }
        }
        throw OutputError(.exists, output: names.pattern)
    }

    private func makeFolder(
        of path: String, andOpen open: Opening
    ) throws(OutputError) -> any AccessUnitSink {
        func attempt() throws(OutputError) -> any AccessUnitSink {
            do throws(FileLocation.Failure) {
                try Folder.make(Folder.of(path))
            } catch { throw OutputError(error, output: path) }
            return try open(path, stream)
        }
        do throws(OutputError) { return try attempt() } catch {
            // Another output may just have found it empty and removed it.
            guard error.kind == .notCreated(errno: ENOENT) else { throw error }
            return try attempt()
        }
    }

    /// Pictures are worth more than their times: where those cannot be written they are missing.
    private func openTimestamps(at path: String) -> (any AccessUnitSink)? {
        guard let openTimestamps else { return nil }
        do throws(OutputError) { return try makeFolder(of: path, andOpen: openTimestamps) } catch {
            noteTimestamps(error.asInterruption)
            return nil
        }
    }

    private func endSegment() throws(OutputError) {
        guard let ended = segment.take() else { return }
        // A new file of which nothing was kept is about to be removed.
        defer {
            if volume.isGone {
                keeper?.endUnseen()
            } else {
                keeper?.end(size: FileFacts(path: ended.path).flatMap { $0.size > 0 ? $0.size : nil })
            }
        }
        do throws(OutputError) { try ended.timestamps?.finish() } catch { noteTimestamps(error) }
        defer { retract(from: ended.sink) }
        try ended.sink.finish()
    }

    /// What the sink has lost of what it had written is lost here, too.
    private func retract(from sink: any AccessUnitSink) {
        retracted.add(sink.takeRetracted())
    }

    /// A timestamp file that fails ends alone.
    private func writeTimestamp(of unit: AccessUnit) {
        do throws(OutputError) { try segment?.timestamps?.write(unit) } catch {
            segment?.timestamps = nil
            noteTimestamps(error)
        }
    }

    private func noteTimestamps(_ error: OutputError) {
        sideFailure = sideFailure ?? error
        if timestampMessages.admit(at: clock.monotonic()) != nil { report(.interrupted(error)) }
    }

    private func tidy(size: Int) {
        // What is not there now is not gone: the disk may be mounted again.
        guard let keeper, !volume.isGone else { return }
        for path in keeper.tidy(now: clock.wall(), size: size) { noteRemoved(path) }
        let isHelpless = keeper.isHelpless
        if isHelpless, !isShortOfRoom { report(.shortOfRoom(folder: names.folder)) }
        isShortOfRoom = isHelpless
    }

    private func noteRemoved(_ path: String) {
        summary.removed += 1
        report(.removed(path: path))
    }
}

// MARK: Outages

extension SegmentedSink {
    /// An access unit cannot be written: the file ends with the one before, and the next attempt is after a
    /// pause, longer each time. Where old segments can make room there is none.
    private func interrupt(_ error: OutputError) -> OutputError {
        guard recovers else { return error }
        let now = clock.monotonic()
        // What is wrong is known.
        let before = retracted.count
        try? endSegment()
        let needsRoom = error.kind.isFullDisk && !volume.isGone
        let removed = needsRoom ? keeper?.makeRoom(now: clock.wall()) ?? [] : []
        for path in removed { noteRemoved(path) }
        let isSoon = outage.map { now - ($0.resumption ?? now) < Self.steadiness } ?? false
        let pause = isSoon ? min(2 * (outage?.pause ?? 0), Self.longestPause) : Self.shortestPause
        if outage == nil || outage?.resumption != nil {
            outage = Outage(error: error, isTold: messages.admit(at: now) != nil)
            if outage?.isTold == true { report(.interrupted(error)) }
        }
        outage?.lost += retracted.count - before
        outage?.pause = pause
        outage?.end = removed.isEmpty ? now + pause : now
        return loss(error)
    }

    /// Something was written again.
    private func resume() {
        guard let ended = outage, let path = segment?.path else { return }
        outage?.resumption = clock.monotonic()
        report(ended.isTold ? .resumed(path: path, lost: ended.lost) : .began(path: path))
    }

    /// Counts an access unit that cannot be written.
    private func loss(_ error: OutputError? = nil) -> OutputError {
        outage?.lost += 1
        return error ?? outage?.error ?? OutputError(.noKeyframe, output: name)
    }
}
