import Bitstream
import CamPlatform
import Glibc
import CamSound
import Containers

/// A recording in one file, which continues in a file with the next free counter if the picture format changes.
///
/// The next file begins with the new format's first IDR. The recording ends if writing fails.
package final class FileRollover: SegmentedSink {
    package let name: String
    package let takesPictures: Bool
    /// Nil between the end of a file and the IDR that begins the next file.
    private var sink: (any AccessUnitSink)?
    /// The current file.
    private var path: String
    /// The file before it.
    private var previous: String?
    private var files: FileSeries
    private let synchronizer: DiskSynchronizer?
    private var reporter: OutputFileReporter
    private var completion: FileCompletion
    private var summary = SegmentSummary()
    /// Access units lost at the end of a file.
    private var retracted = WrittenUnits()

    /// - Parameters:
    ///   - first: writes the file, which is open already.
    ///   - path: the file's name.
    ///   - open: opens further files.
    ///   - synchronizer: the synchronizer of the files' sinks.
    ///   - completion: receives finished files.
    ///   - report: receives events, on the writer's thread.
    package init(
        first: any AccessUnitSink, path: String, stream: StreamDescription, open: @escaping SinkOpening,
        synchronizer: DiskSynchronizer? = nil, clock: any TimeSource = SystemTime(),
        completion: FileCompletion = FileCompletion(),
        report: @escaping (SegmentEvent) -> Void = { _ in }
    ) {
        (name, takesPictures, sink) = (first.name, first.takesPictures, first)
        files = FileSeries(
            FileSeries.Kind(names: FileNamePattern(path, expandsTime: false), open: open), stream: stream,
            volume: Volume(folder: Folder.of(path)), clock: clock)
        (self.synchronizer, self.completion, self.path) = (synchronizer, completion, path)
        reporter = OutputFileReporter(clock: clock, handler: report)
        summary.add(path)
    }

    package var identity: FileIdentity? { sink?.identity }

    /// The files; nil as long as the requested file is the only one.
    package var segments: SegmentSummary? { summary.count > 1 ? summary : nil }

    package func write(_ unit: AccessUnit) throws(OutputError) {
        let beginsFile = sink == nil && unit.isIDR
        if beginsFile { try beginFile() }
        guard let sink else { throw OutputError(.noKeyframe, output: name) }
        do throws(OutputError) { try sink.write(unit) } catch { throw endFile(after: error) }
        completion.note(unit)
        // A file can be created even on a full disk, and is removed again if nothing was written to it.
        if beginsFile { reporter.report(.began(path: path)) }
    }

    package var takesSound: Bool { files.stream.sound != nil }

    package func write(_ sound: SoundPacket) throws(OutputError) {
        do throws(OutputError) { try sink?.write(sound) } catch { throw endFile(after: error) }
    }

    package func endSound() throws(OutputError) {
        files.stream.sound = nil
        do throws(OutputError) { try sink?.endSound() } catch { throw endFile(after: error) }
    }

    package func beginStream(_ description: StreamDescription) throws(OutputError) {
        files.stream = description
        try end()
    }

    package func finish() throws(OutputError) {
        try end()
        synchronizer?.finish()
        if let error = reporter.failure ?? synchronizer?.takeFailure() { throw error }
    }

    package func takeRetracted() -> WrittenUnits {
        var units = retracted.takeAll()
        if let sink { units.add(sink.takeRetracted()) }
        return units
    }

    private func end() throws(OutputError) {
        if let ended = sink.take() {
            defer {
                let lost = ended.takeRetracted()
                retracted.add(lost)
                completion.finish(path, lost: lost.count)
                if !isLeft { summary.takeBack(to: previous) }
            }
            try ended.finish()
        }
        if let error = synchronizer?.takeFailure() { reporter.noteIncomplete(error) }
    }

    /// Ends the file in which nothing more can be written: if it is removed, it no longer counts.
    private func endFile(after error: OutputError) -> OutputError {
        // The cause of a second error is already known.
        try? end()
        return error
    }

    /// Whether the ended file exists: a file in which nothing was kept was removed.
    private var isLeft: Bool {
        do throws(FileLocation.Failure) {
            let facts = try FileFacts.read(path)
            return !facts.isRegular || facts.size > 0
        } catch { return error.errno != ENOENT }
    }

    private func beginFile() throws(OutputError) {
        do throws(OutputError) {
            let opened = try files.next()
            (sink, path, previous) = (opened.sink, opened.path, summary.last)
            summary.add(opened.path)
        } catch { throw error.asInterruption }
    }
}
