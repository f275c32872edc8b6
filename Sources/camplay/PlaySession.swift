import Bitstream
import Decoder
import Output
import Terminal
import Threading

/// One run: opens everything, plays, tells.
struct PlaySession {
    let command: Camplay
    let console: Console
    let signals: SignalWatch

    func run() throws(PlayError) {
        let clock = try command.source.isLive ? nil : PictureClock(command.showing)
        let source = try openSource()
        // From here on there is something to clean up: a signal asks for the end instead of being one.
        signals.workBegins()
        guard let givenUp = Interruption() else { throw .noResources }
        let (outputs, report) = try openFiles(interruption: givenUp)
        let player = Player(
            command, source: source, outputs: outputs, presentation: nil, clock: clock, console: console,
            interruption: signals.interruption)
        var failure: PlayError?
        do throws(PlayError) { try player.run() } catch { failure = error }
        do throws(PlayError) {
            try outputs.finish()
            try write(player.report, to: report)
        } catch {
            failure = failure ?? error
        }
        if let failure { throw failure }
        let pictures = player.report.pictures
        console.inform("\(source.name): \(pictures.decoded) pictures, \(player.report.bytes) bytes")
    }

    private func openSource() throws(PlayError) -> any ByteSource {
        let interruption = signals.interruption
        switch command.source {
        case .file(let path): return try FileSource(path: path, interruption: interruption)
        case .standardInput: return try FileSource(path: nil, interruption: interruption)
        case .sender(let address):
            return ConnectionSource(
                sender: address, once: command.reading.once, interruption: interruption, console: console)
        case .listener(let address):
            return try ConnectionSource(
                listeningOn: address, once: command.reading.once, interruption: interruption,
                console: console)
        }
    }

    private func openFiles(
        interruption: Interruption
    ) throws(PlayError) -> (PlayOutputs, report: OutputFile?) {
        let writing = command.writing
        do throws(OutputError) {
            let outputs = try PlayOutputs(writing, interruption: interruption)
            let report: OutputFile? =
                if let path = writing.report {
                    try OutputFile(path: path, overwrite: writing.overwrite, interruption: interruption)
                } else { nil }
            try refuseSharedFiles(outputs.identities + [report?.identity].compactMap { $0 })
            return (outputs, report)
        } catch { throw .output(error) }
    }

    private func refuseSharedFiles(_ identities: [FileIdentity]) throws(OutputError) {
        guard Set(identities).count == identities.count else {
            throw OutputError(.usedTwice("another output"), output: "one of the outputs")
        }
        guard case .file(let path) = command.source, let input = FileIdentity(path: path) else { return }
        guard !identities.contains(input) else {
            throw OutputError(.usedTwice("the input"), output: path)
        }
    }

    private func write(_ report: PlayReport, to file: OutputFile?) throws(PlayError) {
        guard let file, let text = JSONText.of(report) else { return }
        do throws(OutputError) {
            try file.write(Array(text.utf8))
            file.keep()
            try file.close()
        } catch { throw .output(error) }
    }
}
