import Capture
import Encoder
import Glibc
import Output
import Recorder

/// One run of the record command: opens everything, waits, tells.
struct RecordingSession {
    let command: RecordCommand
    let console: Console
    let signals: SignalWatch

    /// After a signal, a pipe's reader that takes nothing gets this many seconds.
    private static let patience = 5
    private static let progressInterval: Int32 = 500

    func run() -> ExitStatus {
        do throws(RecordingError) {
            return try record()
        } catch {
            console.fail(error.description)
            return ExitStatus(error)
        }
    }

    /// Nothing is created before everything else is open: what fails or is interrupted until then leaves
    /// nothing behind.
    private func record() throws(RecordingError) -> ExitStatus {
        guard let outputGivenUp = Interruption(patience: Self.patience) else { throw .noResources }
        let stream = try openSource()
        let configuration = command.stream.configuration(rate: command.rate)
        let supply = EncoderSupply(
            command.encoder.request, configuration: configuration, source: stream.format)
        let encoder = try openEncoder(from: supply)
        try refuseToOverwriteSource()
        // From here on there is something to clean up: a signal asks for the end instead of being one.
        signals.recordingBegins()
        let report = try ReportFile(command.reporting)
        let sink = try openOutput(interruption: outputGivenUp)
        try refuseSharing(sink, report)
        describe(stream, supply.choice)
        let recording = try Recording(
            from: stream, encoder: encoder, makeEncoder: { () throws(EncoderError) in try supply.open() },
            keyframeInterval: configuration.keyframeInterval(at: stream.format.frameRate),
            keyframeRequest: signals.keyframeRequest, limits: command.length.limits, to: sink)
        let start = MonotonicTime.now()
        wait(for: recording, since: start, outputGivenUp: outputGivenUp)
        let outcome = recording.finish()
        let result = RecordingResult(
            stream: stream, choice: supply.choice, counters: recording.counters, outcome: outcome,
            output: sink.name, elapsed: MonotonicTime.now() - start)
        return try tell(result, outcome.error, report)
    }

    private func openSource() throws(RecordingError) -> any CaptureStream {
        do {
            return try CaptureSource.open(
                command.source.device, request: command.source.request, isPaced: command.source.pace)
        } catch { throw .capture(error) }
    }

    private func openEncoder(from supply: EncoderSupply) throws(RecordingError) -> any PictureEncoder {
        do { return try supply.open() } catch { throw .encoder(error) }
    }

    private func openOutput(interruption: Interruption) throws(RecordingError) -> FileSink {
        do {
            return try FileSink(
                path: command.output, overwrite: command.reporting.overwrite, interruption: interruption)
        } catch { throw .output(error) }
    }

    private func refuseToOverwriteSource() throws(RecordingError) {
        guard let device = command.source.device, device != TestSource.name,
            let source = FileIdentity(path: device)
        else { return }
        for path in [command.output, command.reporting.report].compactMap({ $0 })
        where FileIdentity(path: path) == source {
            throw .output(OutputError(.usedTwice("the source"), output: path))
        }
    }

    private func refuseSharing(_ sink: FileSink, _ report: ReportFile?) throws(RecordingError) {
        guard let report, let identity = report.identity, identity == sink.identity else { return }
        // Whatever is written to /dev/null does not mix.
        if identity == FileIdentity(path: "/dev/null") { return }
        throw .output(OutputError(.usedTwice("the report"), output: sink.name))
    }

    private func describe(_ stream: any CaptureStream, _ choice: EncoderSupply.Choice?) {
        let format = stream.format
        console.inform(
            "source: \(stream.identity.name) (\(stream.identity.device)), \(format.pixelFormat) \(format.size) "
                + "at \(format.frameRate) frames/s\(format.isInterlaced ? ", interlaced" : "")")
        guard let choice else { return }
        let reasons = choice.passedOver.joined(separator: "; ")
        console.inform("encoder: \(choice.name)" + (reasons.isEmpty ? "" : " (because: \(reasons))"))
        for note in choice.notes {
            if note.contradictsRequest { console.warn("\(note)") } else { console.inform("note: \(note)") }
        }
    }

    /// Until everything has ended; a signal asks for that.
    private func wait(for recording: Recording, since start: Int64, outputGivenUp: Interruption) {
        var progress = Progress(start: start)
        var isStopping = false
        var stall = Stall(patience: Int64(Self.patience) * 1_000_000_000)
        while !recording.ended.isRaised {
            var descriptors = (
                pollfd(fd: recording.ended.descriptor, events: Int16(POLLIN), revents: 0),
                // poll ignores a negative descriptor: a signal is seen once.
                pollfd(
                    fd: isStopping ? -1 : signals.interruption.descriptor, events: Int16(POLLIN), revents: 0)
            )
            let timeout = console.hasProgress || isStopping ? Self.progressInterval : -1
            withUnsafeMutablePointer(to: &descriptors) {
                _ = $0.withMemoryRebound(to: pollfd.self, capacity: 2) { poll($0, 2, timeout) }
            }
            if descriptors.1.revents != 0 {
                isStopping = true
                recording.stop()
            }
            if isStopping, stall.isReached(recording.counters) { outputGivenUp.raise() }
            if console.hasProgress { console.showProgress(progress.line(recording.counters)) }
        }
    }

    /// Says how it went, and writes the report.
    private func tell(
        _ result: RecordingResult, _ error: RecordingError?, _ report: ReportFile?
    ) throws(RecordingError) -> ExitStatus {
        console.inform(result.summary)
        for warning in result.warnings { console.warn(warning) }
        var status = ExitStatus.done
        do throws(OutputError) {
            try report?.write(result)
        } catch {
            console.fail(error.description)
            status = .inputOutput
        }
        if let error {
            console.fail("\(error) (\(result.kept))")
            status = ExitStatus(error)
        } else if result.isEmpty {
            console.warn("nothing was recorded")
        }
        return status
    }
}

/// Notices when nothing is written any more.
struct Stall {
    let patience: Int64
    private var written = -1
    private var since: Int64 = 0

    init(patience: Int64) { self.patience = patience }

    /// Whether something waits to be written and nothing was for that long.
    mutating func isReached(_ counters: RecordingCounters) -> Bool {
        let (now, written) = (MonotonicTime.now(), counters[.written])
        if written != self.written || written == counters[.encoded] { (self.written, since) = (written, now) }
        return now - since >= patience
    }
}
