import Bitstream
import CamCommandLine
import CamPlatform
import Decoder
import Glibc
import Containers

/// One run: opens everything, plays, reports.
struct PlaySession {
    let command: Camplay
    let console: Console
    let signals: SignalWatch

    func run() throws(PlayError) {
        let clock = try command.isLive ? nil : PictureClock(command.showing)
        let input = try openInput()
        // From here on there is something to clean up: a signal requests the end instead of ending the
        // process.
        signals.workBegins()
        let screen = try openWindow(input)
        let (outputs, report) = try openFiles()
        let (sound, liveSound) = screen.map { makeSound(of: input, on: $0) } ?? (nil, nil)
        let player = Player(
            command, input: input, record: try readRecord(), outputs: outputs,
            presentation: screen?.presentation, sound: sound, liveSound: liveSound, clock: clock,
            console: console, cancellation: signals.cancellation)
        var failure: PlayError?
        do throws(PlayError) {
            if let screen {
                try play(player, on: screen) { () throws(PlayError) in
                    try finish(player, outputs, report)
                }
            } else {
                try player.run()
            }
        } catch { failure = error }
        do throws(PlayError) { try finish(player, outputs, report) } catch { failure = failure ?? error }
        if failure == nil {
            let report = player.report
            let delay = report.delay.map { ", seen \(Int($0.mean * 1000)) ms after capture" } ?? ""
            console.inform(
                "\(input.name): \(Quantity.count(report.pictures.decoded, "picture")), "
                    + "\(Quantity.count(report.bytes, "byte"))\(delay)")
        }
        if player.hasHungThread { endProcess(failure) }
        if let failure { throw failure }
    }

    /// Ends the process immediately if libraries' exit handlers may wait forever.
    private func endProcess(_ failure: PlayError?) -> Never {
        if let failure { console.fail(failure.description) }
        console.finish()
        _exit(failure.map { ExitStatus($0).rawValue } ?? 0)
    }

    private func openInput() throws(PlayError) -> PlayInput {
        let cancellation = signals.cancellation
        switch command.source {
        case .file(let path): return try openFile(path)
        case .standardInput: return try openFile(nil)
        case .sender(let address):
            return .bytes(
                ConnectionSource(
                    sender: address, once: command.reading.once, cancellation: cancellation, console: console)
            )
        case .listener(let address):
            return .bytes(
                try ConnectionSource(
                    listeningOn: address, once: command.reading.once, cancellation: cancellation,
                    console: console))
        }
    }

    private func readRecord() throws(PlayError) -> DecoderConfigurationRecord? {
        guard let path = command.reading.record else { return nil }
        do throws(InputError) { return try DecoderConfigurationRecord(path: path) } catch {
            throw .input(error)
        }
    }

    /// - Parameter path: nil for standard input.
    private func openFile(_ path: String?) throws(PlayError) -> PlayInput {
        let file = try FileSource(path: path, cancellation: signals.cancellation)
        // A record belongs to a raw stream, whatever the file's name.
        guard command.reading.record == nil, let container = try file.container() else {
            return .bytes(file)
        }
        let hasSound = container.leftOut.contains(ContainerReader.sound)
        let sound = playsSound && hasSound ? try file.container(takesSound: true) : nil
        do throws(InputError) {
            try check(container, leftOut: sound?.leftOut ?? container.leftOut)
        } catch { throw .input(error) }
        return .container(container, file, sound: sound?.hasSound == true ? sound : nil)
    }

    /// Whether sound is played: at another speed, or with other times, sound would not fit the pictures.
    private var playsSound: Bool {
        !command.showing.noWindow && !command.showing.noSound && !command.showing.givesTimes
    }

    /// Refuses options that contradict the container, and warns about streams that are left out.
    private func check(_ container: ContainerReader, leftOut: [String]) throws(InputError) {
        if command.showing.timestamps != nil {
            throw InputError(
                .contradiction("its pictures have times; leave out --timestamps"), input: container.name)
        }
        if let codec = command.reading.codec, codec != container.codec {
            throw InputError(
                .contradiction("it holds \(container.codec); leave out --codec \(codec.rawValue)"),
                input: container.name)
        }
        let leftOut = leftOut.filter { !command.showing.noSound || $0 != ContainerReader.sound }
        if !leftOut.isEmpty {
            console.warn("\(container.name): left out: \(leftOut.joined(separator: ", "))")
        }
    }

    /// How long to wait for an unresponsive sound server, at the beginning and at the end.
    private static let patience = Duration.seconds(1)

    /// Where pictures are displayed.
    private struct Screen {
        let presentation: Presentation
        let window: PlayWindow
    }

    /// - Returns: nil if no window is wanted.
    private func openWindow(_ input: PlayInput) throws(PlayError) -> Screen? {
        if command.showing.noWindow { return nil }
        let presentation = try Presentation(
            cancellation: signals.cancellation, isSeekable: input.isSeekable && !command.isLive)
        let window = try PlayWindow(
            title: "camplay \(input.name)", isLive: command.isLive, presentation: presentation)
        return Screen(presentation: presentation, window: window)
    }

    /// Plays the sound of the input, if it is a container: a file, or live.
    private func makeSound(of input: PlayInput, on screen: Screen) -> (SoundPlayer?, LiveSound?) {
        let (feed, live): (any SoundFeed, LiveSound?)
        switch input {
        case .container(_, _, let reader?): (feed, live) = (FileSound(reader, with: screen.presentation), nil)
        case .bytes where command.isLive && playsSound:
            let sound = LiveSound(with: screen.presentation)
            (feed, live) = (sound, sound)
        default: return (nil, nil)
        }
        let (sdl, console) = (screen.window.sdl, console)
        let player = SoundPlayer(
            feed, open: { () throws(PlayError) in try Speaker(sdl) },
            ready: { [presentation = screen.presentation] in presentation.beginTime(after: $0) },
            warn: { console.warn($0) })
        live?.whenChanged(
            arrival: { [weak player] in player?.noteChange() },
            beginning: { [weak player] in player?.dropHeld() })
        screen.presentation.whenClockChanges { [weak player] in player?.noteChange() }
        screen.window.sound = player
        return (player, live)
    }

    /// Writes the remaining data and the report.
    private func finish(_ player: Player, _ outputs: PlayOutputs, _ report: OutputFile?) throws(PlayError) {
        try outputs.finish()
        try write(player.report, to: report)
    }

    /// Plays on a separate thread, and shows on this one, because a window belongs to the main thread.
    /// - Parameter finish: finishes the work if the display's library ends the process.
    private func play(
        _ player: Player, on screen: Screen, finish: @escaping () throws(PlayError) -> Void
    ) throws(PlayError) {
        guard let ended = CancellationFlag() else { throw .noResources }
        let task = PlayTask(player, screen.presentation, ended: ended)
        let handler = ExitHandler {
            // The display that a change would wake is gone.
            screen.presentation.whenChanged {}
            screen.presentation.end()
            _ = ended.wait()
            screen.presentation.close()
            player.note(screen.presentation.statistics)
            do throws(PlayError) { try finish() } catch { console.fail(error.description) }
            endProcess(.noDisplay(reason: "it was closed"))
        }
        defer { handler.disarm() }
        guard let thread = WorkerThread(body: { task.run() }) else { throw .noResources }
        // Hold the first picture until the loudspeaker is open, so that the file's first sound is heard.
        if player.sound != nil, player.liveSound == nil {
            screen.presentation.holdTime(patience: Self.patience)
        }
        let plays = player.sound?.start() == true
        if !plays { screen.presentation.beginTime(after: .zero) }
        var failure: PlayError?
        do throws(PlayError) { try screen.window.run() } catch { failure = error }
        screen.presentation.end()
        thread.join()
        screen.presentation.close()
        if plays, player.sound?.stop(patience: Self.patience) == false { player.noteHungThread() }
        player.note(screen.presentation.statistics)
        if let failure = task.failure ?? failure { throw failure }
    }

    private func openFiles() throws(PlayError) -> (PlayOutputs, report: OutputFile?) {
        let writing = command.writing
        // A pipe without a reader must not keep the program from ending.
        let cancellation = signals.cancellation
        do throws(OutputError) {
            let outputs = try PlayOutputs(
                writing, cancellation: cancellation, warn: { [console] in console.warn($0) })
            let report: OutputFile? =
                if let path = writing.report {
                    try OutputFile(path: path, overwrite: writing.overwrite, cancellation: cancellation)
                } else { nil }
            try refuseSharedFiles(outputs.files + [report].compactMap { $0 })
            return (outputs, report)
        } catch { throw .output(error) }
    }

    private func refuseSharedFiles(_ files: [OutputFile]) throws(OutputError) {
        // Data written to /dev/null cannot mix.
        let null = FileIdentity(path: "/dev/null")
        let files = files.filter { $0.identity != nil && $0.identity != null }
        for (index, file) in files.enumerated() {
            guard let other = files[..<index].first(where: { $0.identity == file.identity }) else { continue }
            let names = other.name == file.name ? "another output" : other.name
            throw OutputError(.usedTwice(names), output: file.name)
        }
        guard case .file(let path) = command.source, let input = FileIdentity(path: path) else { return }
        guard !files.contains(where: { $0.identity == input }) else {
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

// MARK: Input

/// The input to play.
enum PlayInput {
    /// A raw stream: a file, a pipe, or a connection.
    case bytes(any ByteSource)
    /// A container, whose pictures have times, its file, and another reader for sound that is to be played.
    case container(ContainerReader, FileSource, sound: ContainerReader?)

    /// Whether its pictures have their own times.
    var hasTimes: Bool { if case .container = self { true } else { false } }

    /// Whether it can be played from any position.
    var isSeekable: Bool {
        switch self {
        case .bytes(let source): (source as? FileSource)?.isSeekable ?? false
        case .container: true
        }
    }

    /// Its name in messages.
    var name: String {
        switch self {
        case .bytes(let source): source.name
        case .container(let reader, _, _): reader.name
        }
    }
}

// MARK: Threads

/// A player that runs on another thread.
///
/// `@unchecked Sendable`: only that thread uses the player and `failure` until it is joined.
final class PlayTask: @unchecked Sendable {
    /// Why it ended; read it after the thread is joined.
    private(set) var failure: PlayError?
    private let player: Player
    private let presentation: Presentation

    private let ended: CancellationFlag

    /// - Parameter ended: raised when `run` has finished.
    init(_ player: Player, _ presentation: Presentation, ended: CancellationFlag) {
        (self.player, self.presentation, self.ended) = (player, presentation, ended)
    }

    /// Plays to the end.
    func run() {
        do throws(PlayError) { try player.run() } catch { failure = error }
        presentation.finish()
        ended.raise()
    }
}

/// Does the remaining work if a library ends the process: Xlib calls `exit` when its display is gone
/// (XSetIOErrorHandler(3)).
final class ExitHandler {
    private var body: (() -> Void)?

    /// - Parameter body: called by the thread that calls `exit`, unless the handler was disarmed.
    init(_ body: @escaping () -> Void) {
        self.body = body
        // glibc's on_exit passes an argument, unlike `atexit`. The handler lives as long as the process.
        on_exit(
            { _, argument in
                guard let argument else { return }
                let handler = Unmanaged<ExitHandler>.fromOpaque(argument).takeUnretainedValue()
                handler.body.take()?()
            }, Unmanaged.passRetained(self).toOpaque())
    }

    /// Disarms the handler, because nothing remains to be done.
    func disarm() { body = nil }
}
