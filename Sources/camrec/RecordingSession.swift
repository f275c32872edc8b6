import Bitstream
import Capture
import Encoder
import Glibc
import Network
import Output
import Pictures
import Recorder
import Terminal
import Threading

/// One run of the record command: opens everything, waits, tells.
struct RecordingSession {
    let command: RecordCommand
    let console: Console
    let signals: SignalWatch
    /// SIGUSR1 and the control socket reach the recording through it.
    let control: RecordingControl

    /// After a signal, a pipe's reader that takes nothing gets this many seconds.
    private static let patience = 5
    /// What hangs then gets this many more: less than systemd's TimeoutStopSec in the unit, more than a disk needs
    /// to spin up.
    private static let lastPatience = 15
    /// Where the recording ends by itself and nobody is there to end the wait, outputs get this many first.
    private static let unattendedPatience = 60
    private static let progressInterval: Int64 = 500_000_000
    /// Nanoseconds between two looks for outputs that hang.
    private static let lookInterval: Int64 = 5_000_000_000
    /// Milliseconds between two looks for a camera that is not there, or is in use.
    private static let cameraInterval: Int32 = 1000
    private static let busyInterval: Int32 = 200

    /// How it ended.
    struct Ending {
        let status: ExitStatus
        /// A thread hangs in a driver still.
        let leavesThread: Bool
    }

    func run() -> Ending {
        var deadline = command.length.limits.duration.map {
            RecordingDeadline(duration: $0, folder: ServiceEnvironment.own.runtimeFolder)
        }
        if deadline?.isOver == true {
            console.warn("--duration was over before the service was restarted; nothing more is recorded")
            return Ending(status: .incomplete, leavesThread: false)
        }
        var leavesThread = false
        do throws(RecordingError) {
            return try record(&deadline, &leavesThread)
        } catch {
            console.fail(error.description)
            return Ending(
                status: ServiceEnvironment.own.status(
                    ExitStatus(error), isComplete: deadline?.isOver == true),
                leavesThread: leavesThread)
        }
    }

    /// Nothing is created before everything else is open: what fails or is interrupted until then leaves
    /// nothing behind.
    private func record(
        _ deadline: inout RecordingDeadline?, _ leavesThread: inout Bool
    ) throws(RecordingError) -> Ending {
        guard let outputGivenUp = Interruption(patience: Self.patience) else { throw .noResources }
        var service = ServiceReport()
        try command.foreseeFailures(at: time(nil))
        let stream = try openSource(&service, until: deadline)
        service.begin(frameInterval: stream.format.frameRate.frameDuration)
        // The source may have been waited for.
        let now = time(nil)
        let choices = datedChoices(at: now)
        let providers = BackendEncoderProvider.providers(
            command.encoder.request,
            configurations: command.stream.configurations(command.codecs, rate: command.rate),
            source: stream.format)
        defer { if hasHungNode(providers) { leavesThread = true } }
        var tracks: [RecordingTrack] = []
        for provider in providers { tracks.append(try track(of: provider)) }
        // From here on there is something to clean up: a signal asks for the end instead of being one.
        signals.workBegins()
        let report = try ReportFile(
            command.reporting, names: command.reporting.report.map(command.segments.names), at: now)
        let controlSocket = try openControlSocket()
        let sinks = try openOutputs(choices, providers, report, interruption: outputGivenUp)
        describe(stream, providers, choices)
        var limits = command.length.limits
        if let left = deadline?.remaining {
            console.warn("restarted; recording the \(decimalSeconds(Double(left) / 1e9)) left of --duration")
        }
        if limits.duration != nil { limits.duration = deadline?.begin() }
        let recording = try Recording(
            from: source(stream), tracks: consume tracks,
            to: zip(sinks, choices).map { sink, choice in
                (sink, track: providers.firstIndex { $0.codec == choice.codec } ?? 0)
            }, control: control, limits: limits,
            report: { [console] event in console.warn("\(event)") })
        let start = MonotonicTime.now()
        let desk = ControlDesk(
            control: control, stop: signals.interruption, start: start, counters: recording.counters,
            encoders: recording.encoderCounters, outputs: recording.outputs,
            live: sinks.compactMap { $0 as? BroadcastSink },
            isPassthrough: stream.format.pixelFormat == .h264,
            hasRing: command.segments.ring != nil,
            rates: RateBounds(
                average: providers.compactMap { $0.choice?.details?.rateControl.bitRate }.max(),
                maximum: command.rate.maxBitrate?.value, highest: providers.compactMap(\.highestBitRate).min()
            )
        )
        let controlServer = try serve(controlSocket, desk, recording)
        defer { withExtendedLifetime(controlServer) {} }
        wait(for: recording, since: start, outputGivenUp: outputGivenUp, &service)
        let outcome = recording.finish()
        let result = RecordingResult(
            providers: providers, recording: recording, outcome: outcome, sinks: sinks,
            choices: choices, elapsed: MonotonicTime.now() - start)
        let status = try tell(result, outcome.errors, report)
        return Ending(
            status: ServiceEnvironment.own.status(
                status, isComplete: deadline?.isOver == true || recording.hasAllFrames(of: limits)),
            leavesThread: recording.hasAbandonedThread || hasHungNode(providers))
    }

    private func hasHungNode(_ providers: [BackendEncoderProvider]) -> Bool {
        providers.contains { !$0.hungNodes.isEmpty }
    }

    /// What each output means, with the date of now in the names of single files. Segments and a service's files
    /// take theirs when they begin.
    private func datedChoices(at now: time_t) -> [OutputChoice] {
        guard !command.segments.isSegmented, !ServiceEnvironment.own.isNotified else {
            return command.choices
        }
        return command.choices.map { $0.dated(at: now, isUTC: command.segments.utc) }
    }

    private func track(of provider: BackendEncoderProvider) throws(RecordingError) -> RecordingTrack {
        do throws(EncoderError) {
            return try RecordingTrack(
                provider,
                reportRestart: { [console] cause, untold in
                    console.warn(
                        "\(cause.reason); recording goes on with \(provider.choice?.name ?? "another encoder")"
                            + (untold == 0 ? "" : " (\(untold + 1) times since last reported)"))
                }, segments: command.segments.schedule)
        } catch { throw .encoder(error) }
    }

    /// What runs unattended is there before its camera is, and waits for it; what somebody has typed is told at
    /// once. One that is in use is waited for as long as it is wanted: neither flock(2) nor V4L2 can be waited for
    /// with a limit.
    /// - Parameter deadline: that of a recording which a former process has begun ends the wait.
    private func openSource(
        _ service: inout ServiceReport, until deadline: RecordingDeadline?
    ) throws(RecordingError) -> any CaptureStream {
        let start = MonotonicTime.now()
        let limits = (
            busy: (command.source.wait ?? .none).deadline(from: start),
            absent: deviceTimeout(usually: .none).deadline(from: start)
        )
        var caretakers: [SegmentCaretaker]?
        while true {
            do throws(CaptureError) {
                return try CaptureSource.open(
                    command.source.device, request: command.source.request, isPaced: command.source.pace)
            } catch {
                guard error.isBusy || error.isAbsence, deadline?.isOver != true,
                    MonotonicTime.now() < (error.isBusy ? limits.busy : limits.absent) ?? .max
                else { throw .capture(error) }
                if caretakers == nil { tellWait(error, service) }
                service.wait("waiting for the camera: \(error)")
                caretakers = caretakers ?? command.retentionPlans.compactMap { SegmentCaretaker($0) }
                for event in caretakers?.flatMap({ $0.maintain() }) ?? [] { console.inform("\(event)") }
                // A signal ends the process while nothing is recorded: there is nothing else to wait for.
                poll(nil, 0, error.isBusy ? Self.busyInterval : Self.cameraInterval)
            }
        }
    }

    /// A manager has the status; a name that is mistyped should not be waited for in silence.
    private func tellWait(_ error: CaptureError, _ service: ServiceReport) {
        if error.isBusy {
            console.inform("waiting: \(error)")
        } else if !service.isWanted {
            console.warn("waiting for the camera: \(error)")
        }
    }

    /// How long an absent camera is waited for.
    /// - Parameter usually: where somebody looks after the recording.
    private func deviceTimeout(usually usual: Patience) -> Patience {
        let isUnattended = ServiceEnvironment.own.hasManager || command.segments.isSegmented
        return command.source.deviceTimeout ?? (isUnattended ? .forever : usual)
    }

    /// A camera that goes away is waited for.
    private func source(_ stream: any CaptureStream) -> RecordingSource {
        let finder = CameraFinder(stream.identity, request: command.source.request)
        return RecordingSource(
            stream,
            reopen: finder?.open,
            timeout: deviceTimeout(usually: Patience(seconds: 30)).nanoseconds,
            report: { [console] event in console.warn("\(event)") })
    }

    private func openOutputs(
        _ choices: [OutputChoice], _ providers: [BackendEncoderProvider], _ report: ReportFile?,
        interruption: Interruption
    ) throws(RecordingError) -> [any AccessUnitSink] {
        var sinks: [any AccessUnitSink] = []
        for choice in choices {
            guard let provider = providers.first(where: { $0.codec == choice.codec }) else { continue }
            do throws(OutputError) {
                let sink = try choice.open(
                    provider,
                    files: FileOutput(
                        overwrite: command.reporting.overwrite, segments: command.segments, console: console,
                        interruption: interruption),
                    live: LiveOutput(arguments: command.live, console: console, control: control))
                try refuseSharing(sink, sinks, report)
                sinks.append(sink)
            } catch { throw .output(error) }
        }
        return sinks
    }

    private func openControlSocket() throws(RecordingError) -> PathListener? {
        guard let path = command.live.controlSocket else { return nil }
        do throws(NetworkError) { return try PathListener(path: path) } catch {
            throw .output(OutputError(.network(error), output: path))
        }
    }

    private func serve(
        _ listener: consuming PathListener?, _ desk: ControlDesk, _ recording: Recording
    ) throws(RecordingError) -> ControlServer? {
        guard let listener else { return nil }
        do throws(NetworkError) {
            return try ControlServer(listener) { desk.answer($0) }
        } catch {
            recording.stop()
            _ = recording.finish()
            throw .noResources
        }
    }

    private func refuseSharing(
        _ sink: any AccessUnitSink, _ others: [any AccessUnitSink], _ report: ReportFile?
    ) throws(OutputError) {
        // Whatever is written to /dev/null does not mix.
        guard let identity = sink.identity, identity != FileIdentity(path: "/dev/null") else { return }
        if let other = others.first(where: { $0.identity == identity }) {
            throw OutputError(.usedTwice(other.name), output: sink.name)
        }
        if report?.identity == identity { throw OutputError(.usedTwice("the report"), output: sink.name) }
    }

    private func describe(
        _ stream: any CaptureStream, _ providers: [BackendEncoderProvider], _ choices: [OutputChoice]
    ) {
        let format = stream.format
        console.inform(
            "source: \(stream.identity.name) (\(stream.identity.device)), \(format.pixelFormat) \(format.size) "
                + "at \(format.frameRate) frames/s\(format.isInterlaced ? ", interlaced" : "")")
        for change in stream.controlChanges { tell(change) }
        for node in providers.first?.hungNodes ?? [] {
            console.warn("\(node): its driver does not answer; left out")
        }
        for choice in providers.compactMap(\.choice) {
            let reasons = choice.passedOver.joined(separator: "; ")
            console.inform("encoder: \(choice.name)" + (reasons.isEmpty ? "" : " (because: \(reasons))"))
            for note in choice.notes {
                if note.contradictsRequest {
                    console.warn("\(note)")
                } else {
                    console.inform("note: \(note)")
                }
            }
        }
        for warning in OptionRules(command).warnings { console.warn(warning) }
        if let advice = providers.first.map({ advice(on: $0, format) }) {
            for note in advice.notes { console.inform(note) }
            for warning in advice.warnings { console.warn(warning) }
        }
        for choice in choices where choice.isMisnamed {
            console.warn("\(choice.path) gets \(choice.codec), as --codec asks, which its name does not say")
        }
    }

    private func advice(on provider: BackendEncoderProvider, _ format: PictureFormat) -> SegmentAdvice {
        let framesPerSecond = format.frameRate.framesPerSecond
        let frames = provider.keyframeInterval.frames(framesPerSecond: framesPerSecond)
        return SegmentAdvice(
            segments: command.segments,
            rate: SegmentAdvice.Rate(provider.choice?.details?.rateControl),
            keyframeDistance: Double(frames) / framesPerSecond)
    }

    private func tell(_ change: ControlChange) {
        let (control, wanted) = (change.control, change.control.text(of: change.wanted))
        guard let granted = change.granted, granted != change.wanted else {
            return console.inform("control: \(control.name) is \(wanted)")
        }
        console.warn(
            "\(control.name): \(wanted) was asked for, \(control.text(of: granted)) is what the camera took")
    }

    /// Until everything has ended; a signal asks for that.
    private func wait(
        for recording: Recording, since start: Int64, outputGivenUp: Interruption,
        _ service: inout ServiceReport
    ) {
        var progress = Progress(start: start)
        var isStopping = false
        var stall = Stall(patience: Self.unattendedPatience)
        while !recording.ended.isRaised {
            service.update(recording)
            let interval =
                console.hasProgress || isStopping
                ? Self.progressInterval : service.interval ?? Self.lookInterval
            // A signal is seen once.
            let wake = Wake.wait(
                for: recording.ended.descriptor, unless: isStopping ? nil : signals.interruption,
                until: MonotonicTime.now() + interval)
            if wake == .interrupted {
                isStopping = true
                stall = Stall(patience: Self.patience)
                service.stop()
                recording.stop()
            }
            if isStopping || (recording.isEncoded && !console.hasProgress), stall.isReached(recording) {
                if outputGivenUp.isRaised { return recording.abandonOutputs() }
                outputGivenUp.raise()
                stall = Stall(patience: Self.lastPatience)
            }
            if console.hasProgress { console.showProgress(progress.line(recording)) }
        }
    }

    /// A line each for who reads along, one for a mail or a journal.
    private func tell(_ warnings: [String]) {
        if console.isTerminal || console.isVerbose {
            for warning in warnings { console.warn(warning) }
        } else if !warnings.isEmpty {
            console.warn(warnings.joined(separator: "; also: "))
        }
    }

    /// Says how it went, and writes the report. The first of what failed says what the exit status is.
    private func tell(
        _ result: RecordingResult, _ errors: [RecordingError], _ report: ReportFile?
    ) throws(RecordingError) -> ExitStatus {
        for line in result.summary { console.inform(line) }
        tell(result.warnings)
        var status = ExitStatus.done
        do throws(OutputError) {
            try report?.write(result)
        } catch {
            console.fail(error.description)
            status = .inputOutput
        }
        for error in errors { console.fail("\(error) (\(result.kept))") }
        if let first = errors.first {
            status = ExitStatus(first)
        } else if result.isEmpty, command.segments.ring == nil {
            // A ring writes nothing where nothing happens.
            console.warn("nothing was recorded")
        }
        return status
    }
}

extension CaptureError {
    /// The camera is not there now, and may be later.
    fileprivate var isAbsence: Bool {
        switch kind {
        case .noCamera, .notFound, .lost: true
        default: false
        }
    }

    /// Whether another program has the camera.
    fileprivate var isBusy: Bool { if case .busy = kind { true } else { false } }
}
