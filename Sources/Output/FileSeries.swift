import CamPlatform
import Glibc

/// Opens an output's files one after another, each under an unused name. Used by one thread.
///
/// Missing folders are created, but nothing if the disk is no longer mounted.
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
        /// The file of its timestamps, or why there is none; nil if there should be none.
        let timestamps: (path: String, sink: Result<any AccessUnitSink, OutputError>)?
    }

    /// The stream that further files contain.
    var stream: StreamDescription
    private var main: Kind
    private let timestamps: Kind?
    private let volume: Volume
    private let clock: any TimeSource

    /// The number of names to try for one file.
    private static let mostNames = 10_000

    /// - Parameters:
    ///   - main: the files themselves.
    ///   - timestamps: the files of their timestamps, which have the same counters; nil for none.
    ///   - volume: the file system that the files must be on.
    init(
        _ main: Kind, timestamps: Kind? = nil, stream: StreamDescription, volume: Volume,
        clock: any TimeSource
    ) {
        (self.main, self.timestamps) = (main, timestamps)
        (self.stream, self.volume, self.clock) = (stream, volume, clock)
    }

    /// Opens the next file, and the one for its timestamps.
    /// - Parameter delay: how long ago what it begins with was captured, as far as its name should tell.
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
            // Another output may have removed the folder in between, because it was empty.
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
