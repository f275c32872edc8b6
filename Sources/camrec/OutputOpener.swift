import CamCommandLine
import CamPlatform
import CamRecorder
import CamSound
import Encoder
import Glibc
import CamStorage
import Containers

/// Opens a recording's outputs, and refuses two that are the same file.
struct OutputOpener {
    let files: FileOutput
    let live: LiveOutput
    /// The ring that file outputs keep in memory until a trigger; nil if everything is written.
    let ring: EventRing.Plan?
    /// The sound of outputs that can contain it; nil for none.
    let sound: SoundDescription?

    /// - Parameters:
    ///   - choices: in command-line order.
    ///   - renditions: those of the choices, in the order of their providers.
    ///   - providers: with an open encoder for each rendition.
    ///   - report: must not write to an output's file.
    func open(
        _ choices: [OutputChoice], _ renditions: [RenditionChoice], _ providers: [BackendEncoderProvider],
        besides report: ReportFile?
    ) throws(OutputError) -> [OutputPlan] {
        var plans: [OutputPlan] = []
        for choice in choices {
            guard let index = renditions.firstIndex(of: choice.rendition) else { continue }
            let sink = try open(choice, providers[index], rendition: index)
            try refuseSharing(sink, plans, report)
            plans.append(
                OutputPlan(choice, rendition: index, sink: sink, ring: choice.isFile ? ring : nil))
        }
        return plans
    }

    private func open(
        _ choice: OutputChoice, _ provider: BackendEncoderProvider, rendition: Int
    ) throws(OutputError) -> any AccessUnitSink {
        switch choice.form {
        case .live(let form):
            try live.open(
                choice, form, provider, stream(of: provider, for: choice), rendition: rendition)
        case .annexB, .container, .timestamps: try files.open(choice, stream(of: provider, for: choice))
        }
    }

    private func stream(of provider: BackendEncoderProvider, for choice: OutputChoice) -> StreamDescription {
        var stream = StreamDescription(provider.stream, codec: provider.codec, by: provider.choice)
        stream.sound = choice.takesSound ? sound : nil
        return stream
    }

    private func refuseSharing(
        _ sink: any AccessUnitSink, _ others: [OutputPlan], _ report: ReportFile?
    ) throws(OutputError) {
        // Several writers to /dev/null are harmless.
        guard let identity = sink.identity, identity != FileIdentity(path: "/dev/null") else { return }
        if let other = others.first(where: { $0.sink.identity == identity }) {
            throw OutputError(.usedTwice(other.sink.name), output: sink.name)
        }
        if report?.identity == identity { throw OutputError(.usedTwice("the report"), output: sink.name) }
    }
}

// MARK: Files

/// Opens the outputs that are files, named pipes or standard output.
struct FileOutput {
    let overwrite: Bool
    let segments: SegmentOptions
    /// The ring that motion triggers; nil if motion triggers none.
    let motionRing: EventRing.Plan?
    let console: Console
    /// The metadata that containers store about the recording.
    let metadata: FileMetadata
    /// The clocks by which pictures are captured; nil if the source has none.
    let captureClock: (any TimeSource)?
    /// The program for finished files; nil without `--on-segment`.
    let program: ProgramQueue<FinishedFile>?
    /// Ends a wait for a pipe's reader.
    let cancellation: CancellationFlag

    /// Opens the sink of a choice that is not live.
    func open(_ choice: OutputChoice, _ stream: StreamDescription) throws(OutputError) -> any AccessUnitSink {
        let synchronizer = try synchronizer(for: choice.path)
        // The files of a ring are separate recordings.
        let clock = segments.ring == nil ? SharedPacketClock() : nil
        let open = opening(choice.form, overwrite: false, synchronizer, clock)
        let report: (SegmentEvent) -> Void = { [console] event in
            if event.isWarning { console.warn("\(event)") } else { console.inform("\(event)") }
        }
        let completion = FileCompletion(
            captureClock: captureClock, report: choice.hasPictures ? program.map { $0.start(for:) } : nil)
        if segments.isSegmented || beginsAgain(choice.path), choice.isFile {
            var plan = segments.plan(path: choice.path, timestamps: choice.timestamps)
            plan.takesPictures = choice.hasPictures
            // Motion begins before it triggers, and its file begins before the motion.
            if let motionRing { plan.oldestNamed = motionRing.before + SegmentPlan.longestDelay }
            return try SegmentRecorder(
                plan, stream: stream, open: open,
                openTimestamps: opening(.timestamps, overwrite: false, synchronizer),
                synchronizer: synchronizer, completion: completion, report: report)
        }
        if let base = choice.datedBelow { try Self.makeFolder(of: choice.path, below: base) }
        let first = try opening(choice.form, overwrite: overwrite, synchronizer, clock)(choice.path, stream)
        guard choice.isFile else { return first }
        return FileRollover(
            first: first, path: choice.path, stream: stream, open: open, synchronizer: synchronizer,
            completion: completion, report: report)
    }

    /// Creates the folders named by a date.
    /// - Parameter base: the path before the date, which is not created: if it is missing, it may be mistyped.
    static func makeFolder(of path: String, below base: String) throws(OutputError) {
        guard access(base + "/", F_OK) == 0 else {
            throw OutputError(.notCreated(errno: errno), output: path)
        }
        do throws(FileLocation.Failure) {
            try Folder.make(Folder.of(path))
        } catch { throw OutputError(error, output: path) }
    }

    /// Whether an existing file's name gets a counter: a restarted service finds its previous run's file and no
    /// user to choose another name. Its names are always patterns, and files made by a pattern are never replaced.
    private func beginsAgain(_ path: String) -> Bool {
        ServiceEnvironment.own.isNotified && (!overwrite || path.contains("%"))
    }

    /// Creates the sinks of one form.
    private func opening(
        _ form: OutputChoice.Form, overwrite: Bool, _ synchronizer: DiskSynchronizer?,
        _ clock: SharedPacketClock? = nil
    ) -> SinkOpening {
        { [cancellation, metadata, captureClock] (path, stream) throws(OutputError) in
            switch form {
            case .container(let format):
                try ContainerSink(
                    path: path, format: format, overwrite: overwrite, stream: stream,
                    metadata: metadata, captureClock: captureClock, cancellation: cancellation,
                    synchronizer: synchronizer, sharedClock: clock)
            case .timestamps:
                try TimestampFileSink(
                    path: path, overwrite: overwrite, stream: stream, cancellation: cancellation,
                    synchronizer: synchronizer)
            case .annexB, .live:
                try FileSink(
                    path: path, overwrite: overwrite, cancellation: cancellation, synchronizer: synchronizer)
            }
        }
    }

    /// Creates an output's own synchronizer, so that a slow disk does not hold up other outputs.
    private func synchronizer(for output: String) throws(OutputError) -> DiskSynchronizer? {
        guard let sync = segments.sync else { return nil }
        guard let synchronizer = DiskSynchronizer(bound: sync.duration) else {
            throw OutputError(.notCreated(errno: EAGAIN), output: output)
        }
        return synchronizer
    }
}
