import Bitstream
import CamPlatform
import Glibc
import Containers

/// Opens an output's files one after another, each under an unused name. Used by one thread.
///
/// Missing folders are created, unless the disk is no longer mounted.
struct FileSeries {
    /// How files of one kind are named and opened. As a tuple it crashes Swift 6.2's debug builds.
    struct Kind {
        var names: FileNamePattern
        let open: SinkOpening
    }

    /// A file that was opened.
    struct Opened {
        let path: String
        let sink: any AccessUnitSink
        /// The file of its timestamps, or the error that prevented it; nil if none was requested.
        let timestamps: (path: String, sink: Result<any AccessUnitSink, OutputError>)?
    }

    /// The stream that further files contain.
    var stream: StreamDescription
    private var main: Kind
    private let timestamps: Kind?
    let volume: Volume
    private let clock: any TimeSource

    /// The number of names to try for one file.
    private static let mostNames = 10_000

    /// - Parameters:
    ///   - main: the files themselves.
    ///   - timestamps: the files of the timestamps, which get the same counters; nil for none.
    ///   - volume: the file system that the files must be on.
    init(
        _ main: Kind, timestamps: Kind? = nil, stream: StreamDescription, volume: Volume,
        clock: any TimeSource
    ) {
        (self.main, self.timestamps) = (main, timestamps)
        (self.stream, self.volume, self.clock) = (stream, volume, clock)
    }

    /// Opens the next file, and the file for its timestamps.
    /// - Parameter delay: the age of the file's first picture, if the name should tell the capture time.
    mutating func next(delay: Duration = .zero) throws(OutputError) -> Opened {
        guard !volume.isGone else { throw OutputError(.volumeGone, output: main.names.folder) }
        let time = clock.wallTime - delay
        for _ in 0..<Self.mostNames {
            let path = main.names.next(at: time)
            let companion = timestamps?.names.companion(at: time, counter: main.names.lastCounter)
            if companion == path { throw OutputError(.usedTwice("the timestamps"), output: path) }
            if let companion, FileFacts(path: companion) != nil { continue }
            do throws(OutputError) {
                let sink = try create(path, main.open)
                return Opened(path: path, sink: sink, timestamps: companion.flatMap(createTimestamps))
            } catch {
                guard error.kind == .exists else { throw error }
            }
        }
        throw OutputError(.exists, output: main.names.pattern)
    }

    /// Pictures matter more than their times: a failure here must not stop the recording.
    private func createTimestamps(
        _ path: String
    ) -> (path: String, sink: Result<any AccessUnitSink, OutputError>)? {
        guard let timestamps else { return nil }
        do throws(OutputError) { return (path, .success(try create(path, timestamps.open))) } catch {
            return (path, .failure(error.asInterruption))
        }
    }

    private func create(_ path: String, _ open: SinkOpening) throws(OutputError) -> any AccessUnitSink {
        do throws(OutputError) { return try createOnce(path, open) } catch {
            // Another output may have removed the folder, which was still empty.
            guard error.kind == .notCreated(errno: ENOENT) else { throw error }
            return try createOnce(path, open)
        }
    }

    private func createOnce(_ path: String, _ open: SinkOpening) throws(OutputError) -> any AccessUnitSink {
        do throws(FileLocation.Failure) {
            try Folder.make(Folder.of(path))
        } catch { throw OutputError(error, output: path) }
        return try open(path, stream)
    }
}

/// Creates a file, which must not exist, and returns the sink that writes it.
package typealias SinkOpening = (String, StreamDescription) throws(OutputError) -> any AccessUnitSink

// MARK: - Finished files

/// A file of a recording that is complete: nothing more is written to it, and it has its final name.
package struct FinishedFile: Sendable, Equatable {
    /// The path, in the form in which the output names it.
    package let path: String
    /// When its first and its last picture were captured; nil if the source has no clock.
    package let start, end: WallTime?
    /// Its pictures.
    package let frames: Int

    /// Describes a file.
    package init(path: String, start: WallTime?, end: WallTime?, frames: Int) {
        (self.path, self.start, self.end, self.frames) = (path, start, end, frames)
    }
}

/// Reports each file of an output once it is finished. Used by one thread.
package struct FileCompletion {
    private let clock: (any TimeSource)?
    private let report: ((FinishedFile) -> Void)?
    private var frames = 0
    private var start: WallTime?
    private var latest = Instant.distantPast

    /// - Parameters:
    ///   - captureClock: the clocks of the access units' timestamps; nil if they have none.
    ///   - report: receives the files, on the writer's thread; nil if reports are not needed.
    package init(captureClock: (any TimeSource)? = nil, report: ((FinishedFile) -> Void)? = nil) {
        (clock, self.report) = (captureClock, report)
    }

    /// Notes an access unit that was written to the current file.
    mutating func note(_ unit: AccessUnit) {
        guard report != nil else { return }
        if frames == 0 { start = clock?.wallTime(at: unit.timestamp) }
        frames += 1
        latest = max(latest, unit.timestamp)
    }

    /// Ends the current file.
    /// - Parameter lost: the number of pictures that were written but are not in the file.
    mutating func finish(_ path: String, lost: Int) {
        defer { (frames, start, latest) = (0, nil, .distantPast) }
        guard let report, frames > lost else { return }
        report(
            FinishedFile(
                path: path, start: start, end: clock?.wallTime(at: latest), frames: frames - lost))
    }
}
