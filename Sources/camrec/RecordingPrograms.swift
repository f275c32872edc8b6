import CamCommandLine
import CamPlatform
import CamRecorder
import CamStorage

/// The programs of `--on-segment` and `--on-event`.
struct RecordingPrograms {
    /// Starts the program for finished files; nil without `--on-segment`.
    let files: ProgramQueue<FinishedFile>?
    /// Starts the program for events; nil without `--on-event`.
    let events: ProgramQueue<RecordingEvent>?
    /// Receives what happens to the recording; nil without `--on-event`.
    let log: RecordingEvents?

    /// How long to wait at the end for programs.
    private static let patience = Duration.seconds(10)

    /// - Parameter descriptors: the limit that this process raised.
    init(_ command: RecordCommand, descriptors: DescriptorLimit, console: Console) throws(RecordingError) {
        let environment = ProgramEnvironment.forPrograms()
        func queue<Call>(
            _ path: String, isDurable: Bool
        ) throws(RecordingError) -> ProgramQueue<Call> {
            let launch = ProgramLaunch(
                path, environment: environment, limit: descriptors, isDurable: isDurable)
            guard let queue = ProgramQueue<Call>(launch, report: { console.warn("\($0)") }) else {
                throw .noResources
            }
            return queue
        }
        files = try command.segments.onSegment.map { path throws(RecordingError) in
            try queue(path, isDurable: command.segments.sync != nil)
        }
        guard let program = command.reporting.onEvent else {
            (events, log) = (nil, nil)
            return
        }
        let events: ProgramQueue<RecordingEvent> = try queue(program.path, isDurable: false)
        self.events = events
        log = RecordingEvents(camera: command.source.device) { event in
            if program.wants(event) { events.start(for: event) }
        }
    }

    /// Has triggers and motion become events.
    func watch(_ control: RecordingControl) {
        guard let log else { return }
        control.whenTriggered { log.note($0) }
        control.whenMotionChanges { log.noteMotion($0) }
    }

    /// Gives the last programs some time; the first signal ends that.
    func finish(_ signals: SignalWatch, _ service: inout ServiceReport) {
        let deadline = Instant.now + Self.patience
        let cancellation = signals.cancellation.isRaised ? nil : signals.cancellation
        files?.finish(until: deadline, unless: cancellation, &service)
        events?.finish(until: deadline, unless: cancellation, &service)
    }
}

extension ProgramQueue {
    fileprivate func finish(
        until deadline: Instant, unless cancellation: CancellationFlag?, _ service: inout ServiceReport
    ) {
        close()
        var wake = WaitResult.due
        repeat {
            service.wait("waiting for \(path)")
            let next = service.interval.map { min(deadline, .now + $0) } ?? deadline
            wake = WaitResult.wait(for: ended.descriptor, unless: cancellation, until: next)
        } while wake == .due && Instant.now < deadline
        if wake != .ready { giveUp() }
    }
}
