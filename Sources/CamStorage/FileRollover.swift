import Bitstream
import CamPlatform
import Glibc
import CamSound
import Containers

/// A recording in one file, which continues in a file with the next free counter if the picture format changes.
///
/// The next file begins with the new format's first IDR. The recording ends if writing fails.
public final class FileRollover: SegmentedSink {
    public let name: String
    public let takesPictures: Bool
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
    public init(
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

    public var identity: FileIdentity? { sink?.identity }

    /// The files; nil as long as the requested file is the only one.
    public var segments: SegmentSummary? { summary.count > 1 ? summary : nil }

    public func write(_ unit: AccessUnit) throws(OutputError) {
        if sink == nil, unit.isIDR { try beginFile() }
        guard let sink else { throw OutputError(.noKeyframe, output: name) }
        try sink.write(unit)
        completion.note(unit)
    }

    public var takesSound: Bool { files.stream.sound != nil }

    public func write(_ sound: SoundPacket) throws(OutputError) { try sink?.write(sound) }

    public func endSound() throws(OutputError) {
        files.stream.sound = nil
        try sink?.endSound()
    }

    public func beginStream(_ description: StreamDescription) throws(OutputError) {
        files.stream = description
        try end()
    }

    public func finish() throws(OutputError) {
        try end()
        synchronizer?.finish()
        if let error = reporter.failure ?? synchronizer?.takeFailure() { throw error }
    }

    public func takeRetracted() -> WrittenUnits {
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

    /// Whether the ended file exists: a file in which nothing was kept was removed.
    private var isLeft: Bool {
        guard let facts = FileFacts(path: path) else { return errno != ENOENT }
        return !facts.isRegular || facts.size > 0
    }

    private func beginFile() throws(OutputError) {
        do throws(OutputError) {
            let opened = try files.next()
            (sink, path, previous) = (opened.sink, opened.path, summary.last)
            summary.add(opened.path)
            reporter.report(.began(path: opened.path))
        } catch { throw error.asInterruption }
    }
}
