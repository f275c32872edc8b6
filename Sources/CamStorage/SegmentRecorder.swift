import Bitstream
import CamPlatform
import CamSound
import Glibc
import Containers

/// A recording in segments: files that each begin with an IDR and play by themselves. No access unit is lost
/// or duplicated between two of them.
///
/// A segment begins when the schedule says so, and is named after the time at which it begins. No file is overwritten,
/// and old segments are removed. If a file cannot be written, the recorder retries; access units until then are lost,
/// and the caller counts them.
package final class SegmentRecorder: SegmentedSink {
    private let plan: SegmentPlan
    private let clock: any TimeSource
    private let synchronizer: DiskSynchronizer?
    private var files: FileSeries
    private var upkeep: SegmentUpkeep
    private var reporter: OutputFileReporter
    private var completion: FileCompletion
    private var schedule: SegmentSchedule?
    private var segment: Segment?
    /// Whether the next IDR begins a segment.
    private var isCutDue = false
    private var outage = SegmentOutage()
    package private(set) var currentOutage: OutputOutage?
    /// Access units lost after they were written.
    private var retracted = WrittenUnits()
    private(set) var summary = SegmentSummary()
    /// Whether there has been a file.
    private var hasBegun = false

    /// A file that is being written.
    private struct Segment {
        let path: String
        /// The segment before it.
        let previous: String?
        let sink: any AccessUnitSink
        var timestamps: (any AccessUnitSink)?
        /// Bytes of access units.
        var bytes = 0
        /// Bytes of access units since the limits were last checked.
        var uncheckedBytes = 0
    }

    /// The bytes of a segment that may be written before the limits are checked.
    private static let bytesBetweenChecks = 1 << 20

    /// Prepares a recording. The first file is created with the first IDR.
    /// - Parameters:
    ///   - open: opens a segment.
    ///   - openTimestamps: opens the file of a segment's timestamps, if the plan has any.
    ///   - synchronizer: the synchronizer of the segments and of the timestamps.
    ///   - completion: receives finished files.
    ///   - report: receives events, on the writer's thread.
    package init(
        _ plan: SegmentPlan, stream: StreamDescription, open: @escaping SinkOpening,
        openTimestamps: SinkOpening? = nil, synchronizer: DiskSynchronizer? = nil,
        clock: any TimeSource = SystemTime(), completion: FileCompletion = FileCompletion(),
        report: @escaping (SegmentEvent) -> Void = { _ in }
    ) throws(OutputError) {
        (self.plan, self.clock, self.synchronizer) = (plan, clock, synchronizer)
        self.completion = completion
        for names in plan.allNames {
            // Folders with the time in their names are created; those above them may be mistyped, or not mounted.
            guard access(names.folder + "/", W_OK | X_OK) == 0 else {
                throw OutputError(.notCreated(errno: errno), output: names.pattern)
            }
        }
        let volume = Volume(folder: plan.names.folder)
        var timestamps: FileSeries.Kind?
        if let names = plan.timestamps, let openTimestamps {
            timestamps = FileSeries.Kind(names: names, open: openTimestamps)
        }
        files = FileSeries(
            FileSeries.Kind(names: plan.names, open: open), timestamps: timestamps, stream: stream,
            volume: volume, clock: clock)
        upkeep = try SegmentUpkeep(plan, volume: volume, clock: clock)
        reporter = OutputFileReporter(clock: clock, handler: report)
        schedule = plan.length.map(SegmentSchedule.init)
        note(upkeep.survey())
        maintain()
    }

    package var name: String { plan.names.pattern }

    /// The file that is being written.
    package var identity: FileIdentity? { segment?.sink.identity }

    package var recovers: Bool { true }

    package var takesPictures: Bool { plan.takesPictures }

    package var segments: SegmentSummary? { summary }

    package var retention: SegmentRetention { plan.retention }

    package var maintenanceInterval: Duration? { plan.retention.maintenanceInterval }

    package func write(_ unit: AccessUnit) throws(OutputError) {
        if schedule?.enters(unit) == true { isCutDue = true }
        if unit.isIDR, isCutDue || segment == nil { try begin(with: unit) }
        guard let sink = segment?.sink else { throw loss() }
        do throws(OutputError) { try sink.write(unit) } catch { throw interrupt(error) }
        completion.note(unit)
        currentOutage = nil
        if outage.isActive {
            resume()
        } else if let segment, segment.bytes == 0 {
            // A file can be created even on a full disk, and is removed again if nothing was written to it.
            reporter.report(.began(path: segment.path))
        }
        writeTimestamp { (file) throws(OutputError) in try file.write(unit) }
        grow(by: unit.count)
    }

    package var takesSound: Bool { files.stream.sound != nil }

    /// Sound belongs to the file in which it begins. Sound without pictures, as in an outage, is not written.
    package func write(_ sound: SoundPacket) throws(OutputError) {
        guard let sink = segment?.sink else { return }
        do throws(OutputError) { try sink.write(sound) } catch { throw interrupt(error, lost: 0) }
        writeTimestamp { (file) throws(OutputError) in try file.write(sound) }
        grow(by: sound.count)
    }

    package func endSound() throws(OutputError) {
        files.stream.sound = nil
        do throws(OutputError) { try segment?.sink.endSound() } catch { throw interrupt(error, lost: 0) }
    }

    package func beginStream(_ description: StreamDescription) {
        files.stream = description
        endFile()
    }

    package func endFile() {
        do throws(OutputError) { try endSegment() } catch { reporter.noteIncomplete(error) }
        if let error = synchronizer?.takeFailure() { reporter.noteIncomplete(error) }
    }

    /// Removes old segments even while nothing is written: while a ring waits, in an outage, at the start.
    package func maintain() { note(upkeep.pruneByTime()) }

    package func carryOut(_ command: KeepingCommand) throws(KeepingRefusal) -> KeptSegments {
        try upkeep.carryOut(command)
    }

    package func finish() throws(OutputError) {
        endFile()
        synchronizer?.finish()
        if let error = reporter.failure ?? synchronizer?.takeFailure() { throw error }
    }

    package func takeRetracted() -> WrittenUnits { retracted.takeAll() }
}

// MARK: Segments

extension SegmentRecorder {
    private func begin(with unit: AccessUnit) throws(OutputError) {
        guard outage.allowsAttempt(at: clock.now) else { throw loss() }
        endFile()
        note(upkeep.prune(size: 0))
        if let obstacle = upkeep.obstacle { throw interrupt(obstacle) }
        do throws(OutputError) { segment = try openSegment(beginningWith: unit) } catch {
            throw interrupt(hasBegun ? error.asInterruption : error)
        }
        isCutDue = false
        schedule?.begin(with: unit)
        guard let segment else { return }
        hasBegun = true
        summary.add(segment.path)
    }

    /// The age of an access unit, for the file's name: an encoder, a disk or a ring may have held the access
    /// unit back.
    private func delay(of unit: AccessUnit) -> Duration {
        let delay = clock.now - unit.timestamp
        return plan.oldestNamed.map { (.zero...$0).contains(delay) } == true ? delay : .zero
    }

    private func openSegment(beginningWith unit: AccessUnit) throws(OutputError) -> Segment {
        let opened = try files.next(delay: delay(of: unit))
        var (paths, timestamps) = ([opened.path], (any AccessUnitSink)?.none)
        switch opened.timestamps {
        case (let path, .success(let sink))?:
            paths.append(path)
            timestamps = sink
        case (_, .failure(let error))?: reporter.noteTimestamps(error)
        case nil: break
        }
        if let event = upkeep.begin(paths) { reporter.report(event) }
        return Segment(
            path: opened.path, previous: summary.last, sink: opened.sink, timestamps: timestamps)
    }

    private func endSegment() throws(OutputError) {
        guard let ended = segment.take() else { return }
        var failure: OutputError?
        do throws(OutputError) { try ended.sink.finish() } catch { failure = error }
        let lost = ended.sink.takeRetracted()
        retracted.add(lost)
        if upkeep.end(ended.path) {
            do throws(OutputError) { try ended.timestamps?.finish() } catch { reporter.noteTimestamps(error) }
        } else {
            // Nothing of it is left, and its timestamps would stay for good.
            ended.timestamps?.discard()
            summary.takeBack(to: ended.previous)
        }
        completion.finish(ended.path, lost: lost.count)
        if let failure { throw failure }
    }

    /// Writes a timestamp. If that fails, only the timestamp file ends.
    private func writeTimestamp(_ write: (any AccessUnitSink) throws(OutputError) -> Void) {
        guard let file = segment?.timestamps else { return }
        do throws(OutputError) { try write(file) } catch {
            segment?.timestamps = nil
            reporter.noteTimestamps(error)
        }
    }

    private func grow(by count: Int) {
        segment?.bytes += count
        segment?.uncheckedBytes += count
        guard let segment, segment.uncheckedBytes >= Self.bytesBetweenChecks else { return }
        self.segment?.uncheckedBytes = 0
        note(upkeep.prune(size: segment.bytes))
    }

    private func note(_ events: [SegmentEvent]) {
        for event in events {
            if case .removed = event { summary.removed += 1 }
            reporter.report(event)
        }
    }
}

// MARK: Outages

extension SegmentRecorder {
    /// Ends the file with the access unit before the one that could not be written, and sets the time of the next
    /// attempt: at once if old segments made room.
    /// - Parameter lost: access units.
    private func interrupt(_ error: OutputError, lost: Int = 1) -> OutputError {
        let (now, before) = (clock.now, retracted.count)
        // The cause of a second error is already known.
        try? endSegment()
        let removed = error.kind.isFullDisk ? upkeep.makeRoom() : []
        note(removed)
        noteOutage(error)
        if !outage.isActive {
            outage.begin(with: error, isReported: reporter.reportInterruption(error), at: now)
        }
        outage.postpone(at: now, skipsPause: !removed.isEmpty)
        outage.lose(retracted.count - before + lost)
        return error
    }

    private func noteOutage(_ error: OutputError) {
        currentOutage = OutputOutage(error, since: currentOutage?.since ?? clock.wallTime)
    }

    package func lookForOutage(room: Int) {
        guard segment == nil else { return }
        if let obstacle = obstacle(to: room) {
            noteOutage(obstacle)
        } else if currentOutage?.error.isVisibleOnDisk == true {
            currentOutage = nil
        }
    }

    /// What would keep the next segment from being written, as far as it shows without writing.
    private func obstacle(to room: Int) -> OutputError? {
        let volume = files.volume
        guard !volume.isGone else { return OutputError(.volumeGone, output: volume.folder) }
        // Missing folders are created.
        guard access(volume.folder + "/", W_OK | X_OK) == 0 || errno == ENOENT else {
            return OutputError(.notContinued(errno: errno), output: name)
        }
        if let obstacle = upkeep.obstacle { return obstacle }
        // Old segments can make room, unless they were too few the last time.
        let mayMakeRoom = plan.retention.isLimited && currentOutage?.error.kind.isFullDisk != true
        guard !mayMakeRoom, let space = volume.space, space.free < room else { return nil }
        return OutputError(.diskFull, output: name)
    }

    private func resume() {
        guard let path = segment?.path else { return }
        reporter.report(outage.end(at: clock.now, path: path))
    }

    /// Counts an access unit that cannot be written.
    private func loss() -> OutputError {
        outage.lose(1)
        return outage.error ?? OutputError(.noKeyframe, output: name)
    }
}

// MARK: - Pauses between attempts

/// A period in which a recording cannot be written, with the time of the next attempt and a count of losses.
///
/// Pauses between attempts grow. An outage soon after another continues with the pauses of the previous one.
struct SegmentOutage {
    /// The error that began the outage; nil while the recording can be written.
    private(set) var error: OutputError?
    private var isReported = false
    private var lost = 0
    private var nextAttempt = Instant.distantPast
    private var lastEnd: Instant?
    private var backOff = BackOff(first: .seconds(1), longest: .seconds(10), steadiness: .seconds(10))

    /// Whether nothing can be written at present.
    var isActive: Bool { error != nil }

    /// Whether writing may be attempted now.
    func allowsAttempt(at now: Instant) -> Bool { !isActive || now >= nextAttempt }

    /// Begins an outage.
    /// - Parameter isReported: whether `error` was reported.
    mutating func begin(with error: OutputError, isReported: Bool, at now: Instant) {
        if let lastEnd { backOff.noteSuccess(lasting: now - lastEnd) }
        (self.error, self.isReported, lost) = (error, isReported, 0)
    }

    /// Sets the time of the next attempt, after an attempt has failed.
    /// - Parameter skipsPause: whether the cause of the failure may be gone already.
    mutating func postpone(at now: Instant, skipsPause: Bool) {
        let pause = backOff.next()
        nextAttempt = skipsPause ? now : now + pause
    }

    /// Counts access units that could not be written.
    mutating func lose(_ count: Int) { lost += count }

    /// Ends the outage, after an access unit was written.
    /// - Parameter path: the file that it was written to.
    /// - Returns: the event to report.
    mutating func end(at now: Instant, path: String) -> SegmentEvent {
        (error, lastEnd) = (nil, now)
        return isReported ? .resumed(path: path, lost: lost) : .began(path: path)
    }
}
