import Capture
import Encoder
import Glibc
import Output
import Recorder

/// One run of the record command: opens everything, waits, tells.
struct RecordingSession {
    let command: RecordCommand
    let console: Console
    let signals: Interruption

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

    private func record() throws(RecordingError) -> ExitStatus {
        guard let outputGivenUp = Interruption(patience: Self.patience) else { throw .noResources }
        let report = try ReportFile(command.reporting, output: command.output)
        let sink = try openOutput(interruption: outputGivenUp)
        let stream = try openSource()
        let (encoder, choice) = try openEncoder(for: stream)
        describe(stream, choice)
        let configuration = command.stream.configuration(rate: command.rate)
        let recording = try Recording(
            from: stream, encoder: encoder, makeEncoder: Self.encoderFactory(command, stream.format),
            keyframeInterval: configuration.keyframeInterval(at: stream.format.frameRate),
            limits: command.length.limits, to: sink)
        let start = MonotonicTime.now()
        wait(for: recording, since: start, outputGivenUp: outputGivenUp)
        let outcome = recording.finish()
        let result = RecordingResult(
            stream: stream, choice: choice, counters: recording.counters, outcome: outcome, output: sink.name,
            elapsed: MonotonicTime.now() - start)
        return try tell(result, outcome.error, report)
    }

    private func openOutput(interruption: Interruption) throws(RecordingError) -> FileSink {
        do {
            return try FileSink(
                path: command.output, overwrite: command.reporting.overwrite, interruption: interruption)
        } catch { throw .output(error) }
    }

    private func openSource() throws(RecordingError) -> any CaptureStream {
        do {
            return try CaptureSource.open(
                command.source.device, request: command.source.request, isPaced: command.source.pace)
        } catch { throw .capture(error) }
    }

    private func openEncoder(
        for stream: any CaptureStream
    ) throws(RecordingError) -> (any PictureEncoder, EncoderChoice) {
        if stream.format.pixelFormat == .h264 {
            return (
                PassthroughEncoder(),
                EncoderChoice(name: "none: the camera's own H.264", passedOver: [], notes: [])
            )
        }
        do {
            let selection = try EncoderSelection.open(
                command.encoder.request, configuration: command.stream.configuration(rate: command.rate),
                source: stream.format)
            return (selection.encoder, EncoderChoice(selection))
        } catch { throw .encoder(error) }
    }

    private static func encoderFactory(
        _ command: RecordCommand, _ format: PictureFormat
    ) -> () throws(EncoderError) -> any PictureEncoder {
        let request = command.encoder.request
        let configuration = command.stream.configuration(rate: command.rate)
        return { () throws(EncoderError) in
            if format.pixelFormat == .h264 { return PassthroughEncoder() }
            return try EncoderSelection.open(request, configuration: configuration, source: format).encoder
        }
    }

    private func describe(_ stream: any CaptureStream, _ choice: EncoderChoice) {
        let format = stream.format
        console.inform(
            "source: \(stream.identity.name) (\(stream.identity.device)), \(format.pixelFormat) \(format.size) "
                + "at \(format.frameRate) frames/s\(format.isInterlaced ? ", interlaced" : "")")
        console.inform("encoder: \(choice.name)\(choice.reason)")
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
                pollfd(fd: isStopping ? -1 : signals.descriptor, events: Int16(POLLIN), revents: 0)
            )
            let timeout = console.hasProgress || isStopping ? Self.progressInterval : -1
            withUnsafeMutablePointer(to: &descriptors) {
                _ = $0.withMemoryRebound(to: pollfd.self, capacity: 2) { poll($0, 2, timeout) }
            }
            if descriptors.1.revents != 0 {
                isStopping = true
                recording.stop()
            }
            if isStopping, stall.isReached(written: recording.counters[.written]) { outputGivenUp.raise() }
            if console.hasProgress { console.showProgress(progress.line(recording.counters)) }
        }
    }

    /// Says how it went, and writes the report.
    private func tell(
        _ result: RecordingResult, _ error: RecordingError?, _ report: ReportFile?
    ) throws(RecordingError) -> ExitStatus {
        console.inform(result.summary)
        for warning in result.warnings { console.warn(warning) }
        do throws(OutputError) {
            try report?.write(result)
        } catch {
            console.fail(error.description)
            return .inputOutput
        }
        guard let error else { return .done }
        console.fail("\(error) (\(result.kept))")
        return ExitStatus(error)
    }
}

/// The encoder that was chosen, in words.
struct EncoderChoice {
    let name: String
    let passedOver: [String]
    let notes: [EncoderNote]

    init(name: String, passedOver: [String], notes: [EncoderNote]) {
        self.name = name
        self.passedOver = passedOver
        self.notes = notes
    }

    init(_ selection: EncoderSelection) {
        self.init(
            name: selection.encoder.name, passedOver: selection.passedOver, notes: selection.encoder.notes)
    }

    /// Why not the others, as the rest of a sentence.
    var reason: String { passedOver.isEmpty ? "" : " (because: \(passedOver.joined(separator: "; ")))" }
}

/// Notices when nothing is written any more.
struct Stall {
    let patience: Int64
    private var written = -1
    private var since: Int64 = 0

    init(patience: Int64) { self.patience = patience }

    mutating func isReached(written: Int) -> Bool {
        let now = MonotonicTime.now()
        if written != self.written { (self.written, since) = (written, now) }
        return now - since >= patience
    }
}
