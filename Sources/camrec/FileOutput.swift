import Files
import Glibc
import Output
import Recorder
import Terminal
import Threading

/// Opens the outputs that are files, named pipes or standard output.
struct FileOutput {
    let overwrite: Bool
    let segments: SegmentOptions
    let console: Console
    /// Ends a wait for a pipe's reader.
    let interruption: Interruption

    /// Opens the sink of a choice that is not live.
    func open(_ choice: OutputChoice, _ stream: StreamDescription) throws(OutputError) -> any AccessUnitSink {
        let synchronizer = try synchronizer(for: choice.path)
        let open = opening(choice.form, overwrite: false, synchronizer)
        let report: (SegmentEvent) -> Void = { [console] event in
            if event.isWarning { console.warn("\(event)") } else { console.inform("\(event)") }
        }
        if segments.isSegmented || beginsAgain(choice.path), choice.isFile {
            var plan = segments.plan(path: choice.path, timestamps: choice.timestamps)
            if case .timestamps = choice.form { plan.takesPictures = false }
            return try SegmentRecorder(
                plan, stream: stream, open: open,
                openTimestamps: opening(.timestamps, overwrite: false, synchronizer),
                synchronizer: synchronizer, report: report)
        }
        if let base = choice.datedBelow { try Self.makeFolder(of: choice.path, below: base) }
        let first = try opening(choice.form, overwrite: overwrite, synchronizer)(choice.path, stream)
        guard choice.isFile else { return first }
        return FileRollover(
            first: first, path: choice.path, stream: stream, open: open, synchronizer: synchronizer,
            report: report)
    }

    /// Makes the folders that a date has named.
    /// - Parameter base: what stands ahead of them, and may be mistyped where it is not there.
    static func makeFolder(of path: String, below base: String) throws(OutputError) {
        guard access(base + "/", F_OK) == 0 else {
            throw OutputError(.notCreated(errno: errno), output: path)
        }
        do throws(FileLocation.Failure) {
            try Folder.make(Folder.of(path))
        } catch { throw OutputError(error, output: path) }
    }

    /// A service that was restarted finds its former run's file, and nobody to name another: it gets a counter, too.
    /// Its names are patterns always, and what a pattern makes is not replaced.
    private func beginsAgain(_ path: String) -> Bool {
        ServiceEnvironment.own.isNotified && (!overwrite || path.contains("%"))
    }

    /// Makes the sinks of one form.
    private func opening(
        _ form: OutputChoice.Form, overwrite: Bool, _ synchronizer: DiskSynchronizer?
    ) -> SinkOpening {
        { [interruption] (path, stream) throws(OutputError) in
            switch form {
            case .container(let format):
                try ContainerSink(
                    path: path, format: format, overwrite: overwrite, stream: stream,
                    interruption: interruption, synchronizer: synchronizer)
            case .timestamps:
                try TimestampFileSink(
                    path: path, overwrite: overwrite, stream: stream, interruption: interruption,
                    synchronizer: synchronizer)
            case .annexB, .live:
                try FileSink(
                    path: path, overwrite: overwrite, interruption: interruption, synchronizer: synchronizer)
            }
        }
    }

    /// One for each output, so that a slow disk holds up no other.
    private func synchronizer(for output: String) throws(OutputError) -> DiskSynchronizer? {
        guard let sync = segments.sync else { return nil }
        guard let synchronizer = DiskSynchronizer(bound: sync.duration) else {
            throw OutputError(.notCreated(errno: EAGAIN), output: output)
        }
        return synchronizer
    }
}
