import Bitstream
import CamConversion
import Capture
import CamControlProtocol
import Encoder
import Glibc
import CamNetworking
import CamPictures
import CamPlatform
import CamRecorder
import CamSound
import CamCommandLine
import CamStorage
import Containers

/// One run of the record command: opens everything, waits, and reports.
struct RecordingSession {
    let command: RecordCommand
    let console: Console
    let signals: SignalWatch
    /// Passes SIGUSR1 and control socket commands to the recording.
    let control: RecordingControl
    /// The limit that this process raised.
    let descriptors: DescriptorLimit

    /// How long a pipe's reader may stall after a cancellation.
    private static let patience = Duration.seconds(5)
    private static let progressInterval = Duration.milliseconds(500)
    /// The interval between checks for hung outputs.
    private static let lookInterval = Duration.seconds(5)
    /// How long the sound encoder waits for the microphone to open.
    private static let microphonePatience = Duration.milliseconds(500)
    /// The end of a run.
    struct Ending {
        let status: ExitStatus
        /// Whether a thread still hangs in a driver.
        let hasHungThread: Bool
    }

    func run() -> Ending {
        var deadline = command.length.limits.duration.map {
            RecordingDeadline(duration: $0, folder: ServiceEnvironment.own.runtimeFolder)
        }
        if deadline?.isOver == true, command.length.serveOn {
            console.warn("--duration ended before the service was restarted; only live outputs continue")
            return RecordingSession(
                command: command.withoutFiles, console: console, signals: signals, control: control,
                descriptors: descriptors
            ).run()
        }
        if deadline?.isOver == true {
            console.warn("--duration ended before the service was restarted; nothing more is recorded")
            return Ending(status: .incomplete, hasHungThread: false)
        }
        var hasHungThread = false
        do throws(RecordingError) {
            return try record(&deadline, &hasHungThread)
        } catch {
            console.fail(error.description)
            return Ending(
                status: ServiceEnvironment.own.status(
                    ExitStatus(error), isComplete: isComplete(deadline)),
                hasHungThread: hasHungThread)
        }
    }

    /// Creates files only after everything else is open: a failure or cancellation before that leaves nothing
    /// behind.
    private func record(
        _ deadline: inout RecordingDeadline?, _ hasHungThread: inout Bool
    ) throws(RecordingError) -> Ending {
        guard let outputGivenUp = CancellationFlag(patience: Self.patience) else { throw .noResources }
        var service = ServiceReport(succession: succession(isLive: true))
        try command.preflight(at: WallTime.now)
        let motion = try command.motion.plan(crop: command.picture.framing.crop)
        let privacy: PrivacyMask?
        do throws(InputError) { privacy = try command.privacy.mask() } catch { throw .input(error) }
        let sharedSurfaces = sharedSurfaces(motion)
        defer {
            sharedSurfaces?.settle()
            if sharedSurfaces?.hasHung == true { hasHungThread = true }
        }
        let programs = try RecordingPrograms(command, descriptors: descriptors, console: console)
        let demand = command.live.demand
        let stream = try openSource(&service, sharedSurfaces, programs.log, until: deadline)
        let controls = LiveControls(request)
        controls.attach(to: stream.identity)
        service.begin(
            frameInterval: stream.format.frameRate.frameDuration,
            encodingInterval: command.lapse.plan?.interval,
            succession: succession(isLive: stream.isLive))
        // Read the clock again: opening the source may have taken long.
        let now = WallTime.now
        let capturing = Capturing(
            source(stream, sharedSurfaces, controls, programs.log, demand),
            every: command.lapse.plan?.interval)
        // From here on the stream belongs to the capture thread, which runs while the encoders open.
        capturing.startAhead()
        let opened = capturing.source
        let microphone = try openMicrophone(camera: opened.identity.device)
        let choices = datedChoices(at: now)
        let providers = BackendEncoderProvider.providers(
            command.encoder.request,
            configurations: command.configurations,
            source: opened.format,
            treatment: command.picture.treatment(
                hiding: privacy, camera: opened.identity.name, isUTC: command.segments.utc,
                leavesThumbnails: motion != nil),
            sharedSurfaces: sharedSurfaces)
        defer { if hasHungNode(providers) { hasHungThread = true } }
        let session = try session(providers, opened.format)
        let sound = try microphone.map { (choice, reader) throws(RecordingError) in
            try soundPlan(choice, reader)
        }
        // From here on there is something to clean up: a signal requests the end instead of ending the process.
        signals.workBegins()
        let report = try ReportFile(
            command.reporting, names: command.reporting.report.map(command.segments.names), at: now)
        let controlSocket = try openControlSocket()
        programs.watch(control)
        let plans = try openOutputs(
            choices, providers, report, opened, programs.files, demand, sound?.encoder.description,
            cancellation: outputGivenUp)
        RecordingNotes(command: command, console: console).report(opened, providers)
        let limits = limits(&deadline)
        let recording = try Recording(
            from: capturing, session: session, to: consume plans, segments: command.segments.schedule,
            control: control, limits: limits, motion: motion, sound: sound, reportRestart: reportRestart,
            report: { [console] event in
                if event.isWarning { console.warn("\(event)") }
                programs.log?.note(event)
            })
        let start = Instant.now
        programs.log?.noteBeginning(camera: opened.identity.device)
        let abilities = RecordingStatistics.Abilities(
            trigger: command.segments.ring != nil, encoding: opened.format.pixelFormat != .h264,
            controls: controls.hasCamera)
        let desk = ControlCommandHandler(
            recording, since: start, control: control, stop: signals.cancellation, abilities: abilities,
            rates: rateBounds(providers), controls: controls, doctor: Self.doctor,
            snapshots: Snapshot.Form(
                .jpeg, isUTC: command.segments.utc, hiding: privacy, program: Version.program))
        let controlServer = try serve(controlSocket, desk, recording)
        defer { withExtendedLifetime(controlServer) {} }
        wait(for: recording, since: start, outputGivenUp: outputGivenUp, &service)
        let outcome = recording.finish()
        if !controls.restore() {
            console.warn("\(opened.identity.device): its controls were not restored; set them with v4l2-ctl")
        }
        let elapsed = Instant.now - start
        programs.log?.noteEnd(
            frames: recording.encoderCounters.map { $0[.encoded] }.max() ?? 0, after: elapsed,
            error: outcome.errors.first?.description)
        programs.finish(signals, &service)
        let result = RecordingResult(
            recording, outcome, elapsed: elapsed, programs, lapse: command.lapse.plan, hiding: privacy)
        var status = try conclude(result, outcome.errors, report)
        if status == .done, outcome.hasReachedCut { status = .superseded }
        return Ending(
            status: ServiceEnvironment.own.status(
                status,
                isComplete: isComplete(deadline)
                    || !limits.servesOn && recording.hasAllFrames(of: limits)),
            hasHungThread: outcome.hasHungThread || hasHungNode(providers) || sharedSurfaces?.hasHung == true)
    }

    /// Returns the GPU's memory for a camera to write into; nil if every picture is copied anyway.
    private func sharedSurfaces(_ motion: MotionPlan?) -> SharedSurfaces? {
        guard motion == nil, command.source.format != .h264, command.picture.framing.isPlain,
            command.picture.overlay == nil, command.privacy.given.isEmpty,
            command.configurations.allSatisfy({ $0.colorRange == nil && $0.colorMatrix == nil })
        else { return nil }
        return SharedSurfaces(command.encoder.request, codecs: command.codecs)
    }

    /// Whether `--duration` has elapsed and no live output remains.
    private func isComplete(_ deadline: RecordingDeadline?) -> Bool {
        deadline?.isOver == true && !command.length.serveOn
    }

    private func succession(isLive: Bool) -> Succession {
        Succession(
            isRestarted: ServiceEnvironment.own.restartsSuperseded,
            isSegmented: command.segments.schedule != nil && command.segments.ring == nil, isLive: isLive,
            limits: command.length.limits)
    }

    /// Returns this run's limits: less than requested if a previous process has recorded a part.
    private func limits(_ deadline: inout RecordingDeadline?) -> RecordingLimits {
        var limits = command.length.limits
        if let left = deadline?.remaining {
            console.warn("restarted; recording the \(Quantity.seconds(left.inSeconds)) left of --duration")
        }
        if limits.duration != nil { limits.duration = deadline?.begin() }
        return limits
    }

    /// The bounds of the renditions whose rates commands change (see `Recording`).
    private func rateBounds(_ providers: [BackendEncoderProvider]) -> RateBounds {
        let renditions = command.renditions
        let following = renditions.indices.filter { !renditions[$0].hasOwnRates }
        let changed = (following.isEmpty ? [0] : following).map { providers[$0] }
        return RateBounds(
            average: changed.compactMap { $0.choice?.details?.rateControl.bitRate }.max(),
            maximum: following.isEmpty ? renditions[0].maximumBitRate : command.rate.maxBitrate?.value,
            highest: changed.compactMap(\.highestBitRate).min())
    }

    private func hasHungNode(_ providers: [BackendEncoderProvider]) -> Bool {
        providers.contains { !$0.hungNodes.isEmpty }
    }

    /// Returns each output's choice, with the current date in the names of single files. Segments and a service's
    /// files are dated when they begin.
    private func datedChoices(at now: WallTime) -> [OutputChoice] {
        guard !command.segments.isSegmented, !ServiceEnvironment.own.isNotified else {
            return command.choices
        }
        return command.choices.map { $0.dated(at: now, isUTC: command.segments.utc) }
    }

    private func session(
        _ providers: [BackendEncoderProvider], _ format: PictureFormat
    ) throws(RecordingError) -> CompressionSession {
        do throws(EncoderError) { return try CompressionSession(providers, format: format) } catch {
            throw .encoder(error)
        }
    }

    private func reportRestart(_ rendition: Rendition, _ cause: EncoderError, _ suppressed: Int) {
        console.warn(
            "\(cause.reason); recording continues with \(rendition.choice?.name ?? "another encoder")"
                + (suppressed == 0 ? "" : " (\(suppressed + 1) times since last reported)"))
    }

    /// Opens the source. By default an unattended recording waits for its camera and an attended one fails
    /// immediately.
    /// - Parameter deadline: ends the wait, if a previous process began the recording.
    private func openSource(
        _ service: inout ServiceReport, _ sharedSurfaces: SharedSurfaces?, _ log: RecordingEvents?,
        until deadline: RecordingDeadline?
    ) throws(RecordingError) -> any CaptureStream {
        let busyPatience = (command.source.wait ?? .none).duration
        let absencePatience = deviceTimeout(usually: .none).duration
        let wait = CameraWait(busyPatience: busyPatience, absencePatience: absencePatience)
        var retentions: [RetentionWhileWaiting]?
        do throws(CaptureError) {
            // A signal ends the process before recording starts, so this wait need not be interrupted.
            return try wait.open { () throws(CaptureError) in
                try CaptureSource.open(
                    command.source.device, request: request, isPaced: command.source.pace,
                    sharing: sharedSurfaces)
            } isOver: {
                isComplete(deadline)
            } failed: { failure in
                if failure.isFirst {
                    noteWait(failure, failure.isBusy ? busyPatience : absencePatience, service)
                }
                if !failure.isBusy { log?.noteAbsence(failure.error) }
                service.wait("waiting for the camera: \(failure.error)")
                retentions = retentions ?? command.retentionPlans.compactMap { RetentionWhileWaiting($0) }
                for event in retentions?.flatMap({ $0.maintain() }) ?? [] { console.inform("\(event)") }
            }
        } catch { throw .capture(error) }
    }

    /// The request to the source. A service continues without a control that another kernel lacks.
    private var request: CaptureRequest {
        var request = command.source.request
        request.skipsMissingControls = ServiceEnvironment.own.hasManager
        return request
    }

    /// Reports the wait, as a warning if no service manager shows it: the name may be mistyped.
    private func noteWait(_ failure: CameraWait.Failure, _ patience: Duration?, _ service: ServiceReport) {
        let text = RecordingNotes.waiting(failure.error, for: patience)
        if failure.isBusy {
            console.inform(text)
        } else if !service.isWanted {
            console.warn(text)
        }
    }

    /// Returns how long to wait for an absent camera.
    /// - Parameter usually: the value for an attended recording.
    private func deviceTimeout(usually usual: Patience) -> Patience {
        let isUnattended = ServiceEnvironment.own.hasManager || command.segments.isSegmented
        return command.source.deviceTimeout ?? (isUnattended ? .forever : usual)
    }

    /// Returns the recording's source, which waits for a camera that disappears.
    private func source(
        _ stream: any CaptureStream, _ sharedSurfaces: SharedSurfaces?, _ controls: LiveControls,
        _ log: RecordingEvents?, _ demand: CameraDemand?
    ) -> RecordingSource {
        let finder = CameraFinder(
            stream.identity, request: request, sharing: sharedSurfaces, controls: controls)
        var source = RecordingSource(
            stream,
            reopen: finder?.open,
            timeout: deviceTimeout(usually: demand == nil ? Patience(.seconds(30)) : .forever).duration,
            report: { [console] event, isTold in
                if isTold, event.isWarning { console.warn("\(event)") }
                if !event.isWarning { console.inform("\(event)") }
                log?.note(event)
            })
        source.demand = demand
        return source
    }

    private func openOutputs(
        _ choices: [OutputChoice], _ providers: [BackendEncoderProvider], _ report: ReportFile?,
        _ source: RecordingOutcome.Source, _ program: ProgramQueue<FinishedFile>?, _ demand: CameraDemand?,
        _ sound: SoundDescription?,
        cancellation: CancellationFlag
    ) throws(RecordingError) -> [OutputPlan] {
        // A file has no capture times.
        let metadata = FileMetadata(
            camera: source.isLive ? source.identity.name : nil, program: "camrec \(Version.current)")
        let opener = OutputOpener(
            files: FileOutput(
                overwrite: command.reporting.overwrite, segments: command.segments,
                motionRing: command.motion.onMotion ? command.segments.ringPlan : nil, console: console,
                metadata: metadata, captureClock: source.isLive ? SystemTime() : nil,
                program: program, cancellation: cancellation),
            live: LiveOutput(
                arguments: command.live, console: console, control: control, demand: demand,
                descriptorEnd: descriptors.reserve(outputs: choices.count)),
            ring: command.segments.ringPlan, sound: sound)
        do throws(OutputError) {
            return try opener.open(choices, command.renditions, providers, besides: report)
        } catch { throw .output(error) }
    }

    /// Starts to open the microphone, while camera and encoder open; nil if no sound is wanted.
    private func openMicrophone(
        camera: String
    ) throws(RecordingError) -> (choice: MicrophoneChoice, reader: MicrophoneReader)? {
        guard command.sound.isWanted else { return nil }
        let choice = MicrophoneChoice(command.sound.audioDevice, camera: camera)
        guard let reader = MicrophoneReader(open: choice.open) else { throw .noResources }
        return (choice, reader)
    }

    /// Opens the sound encoder with the microphone's number of channels, or two if it does not open in time.
    private func soundPlan(
        _ choice: MicrophoneChoice, _ reader: MicrophoneReader
    ) throws(RecordingError) -> SoundPlan {
        let format = try? reader.firstFormat(until: .now + Self.microphonePatience)?.get()
        do throws(SoundError) {
            let encoder = try SoundEncoder(
                command.sound.codec, channels: format?.channels ?? 2,
                bitRate: command.sound.audioBitrate?.value)
            let detail = format.map { "\($0)" } ?? "not open yet"
            console.inform("sound: \(choice.summary), \(detail), as \(encoder.description.codec.name)")
            return SoundPlan(encoder, microphone: reader, name: choice.name) { [console] event in
                if event.isWarning { console.warn("\(event)") } else { console.inform("\(event)") }
            }
        } catch { throw .sound(error) }
    }

    private func openControlSocket() throws(RecordingError) -> PathListener? {
        guard let file = command.live.controlSocket else { return nil }
        do throws(NetworkError) { return try PathListener(path: file.path, mode: file.mode) } catch {
            throw .output(OutputError(.network(error), output: file.path))
        }
    }

    private func serve(
        _ listener: consuming PathListener?, _ desk: ControlCommandHandler, _ recording: Recording
    ) throws(RecordingError) -> ControlServer? {
        guard let listener else { return nil }
        do throws(NetworkError) {
            return try ControlServer(listener) { line in
                switch line {
                case .fault(let fault): .line(Self.text(of: ControlReply(error: "\(fault)")))
                case .command(let command):
                    switch desk.carryOut(command) {
                    case .reply(let reply): .line(Self.text(of: reply))
                    case .task(let task): .task { task.run(sendingTo: $0, text: Self.text) }
                    }
                }
            }
        } catch {
            recording.stop()
            _ = recording.finish()
            throw .noResources
        }
    }

    private static func text(of reply: ControlReply) -> String {
        JSONText.line(of: reply) ?? #"{"error":"the answer is not finite","ok":false}"#
    }

    /// This program: another may be installed meanwhile.
    private static let doctor = DoctorProgram(
        path: "/proc/self/exe", arguments: ["doctor", "--json"], environment: ProgramEnvironment.forPrograms()
    )

    /// Waits until everything has ended, which a signal requests.
    private func wait(
        for recording: Recording, since start: Instant, outputGivenUp: CancellationFlag,
        _ service: inout ServiceReport
    ) {
        var progress = Progress(start: start)
        var (isStopping, servesOn) = (false, false)
        var stall = ShutdownPatience(isAttended: console.hasProgress)
        while !recording.ended.isRaised {
            service.update(recording)
            if service.isSuperseded { control.endAtCut() }
            if command.length.serveOn, !servesOn, recording.servesOn {
                servesOn = true
                console.inform("the files have ended; live outputs continue until Ctrl-C")
            }
            let interval =
                console.hasProgress || isStopping
                ? Self.progressInterval : service.interval ?? Self.lookInterval
            // Each signal is seen only once.
            let wake = WaitResult.wait(
                for: recording.ended.descriptor, unless: isStopping ? nil : signals.cancellation,
                until: Instant.now + interval)
            if wake == .interrupted {
                isStopping = true
                service.stop()
                recording.stop()
                stall.stop()
            }
            switch stall.step(ShutdownPatience.Progress(recording), at: Instant.now) {
            case .wait: break
            case .interrupt: outputGivenUp.raise()
            case .abandon: return recording.abandonOutputs()
            }
            if console.hasProgress { console.showProgress(progress.line(recording)) }
        }
    }

    /// Prints a line per warning for a user, one line in all for mail or a journal.
    private func warn(_ warnings: [String]) {
        if console.isTerminal || console.isVerbose {
            for warning in warnings { console.warn(warning) }
        } else if !warnings.isEmpty {
            console.warn(warnings.joined(separator: "; also: "))
        }
    }

    /// Reports the result and writes the report. The first failure determines the exit status.
    private func conclude(
        _ result: RecordingResult, _ errors: [RecordingError], _ report: ReportFile?
    ) throws(RecordingError) -> ExitStatus {
        for line in result.summary { console.inform(line) }
        warn(result.warnings)
        var status = ExitStatus.done
        do throws(OutputError) {
            try report?.write(result)
        } catch {
            console.fail(error.description)
            status = .inputOutput
        }
        // The last failure is printed with what was kept, however many outputs failed.
        for error in errors.dropLast() { console.fail("\(error)") }
        if let last = errors.last { console.fail("\(last) (\(result.kept))") }
        if let first = errors.first {
            status = ExitStatus(first)
        } else if result.isEmpty, command.segments.ring == nil, !command.live.onDemand {
            // A ring writes nothing without a trigger, and there may have been no viewer.
            console.warn("nothing was recorded")
        }
        return status
    }
}
