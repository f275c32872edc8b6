import ArgumentParser
import CamCommandLine
import CamControlProtocol
import CamNetworking
import CamPlatform
import CamRecorder
import FoundationEssentials
import Glibc
import Containers

/// `camrec ctl PATH COMMAND`: sends a command to a running recording and prints the reply.
struct CtlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ctl",
        abstract: "Sends a command to a recording with --control-socket.",
        usage: "camrec ctl [--prometheus] [--overwrite] <PATH> <COMMAND>",
        discussion: """
            Commands:
            \(AlignedColumns.text(of: commands))

            The answer is one line of JSON. Exit codes: 0 done; 64 unknown command; 69 refused, or no recording there; \
            73, 74 the picture could not be written.
            """)

    /// What can be sent, in the order of `ControlCommand.names`.
    static let commands: [ShortHelp.Entry] = [
        .init("keyframe", "make the next frame a keyframe"),
        .init("trigger", "write what --ring has kept, and what follows"),
        .init(
            "bitrate 2M",
            "change the average rate, 1k to 2000M; keyframeForced says whether that needs a keyframe"),
        .init("max-bitrate 3M", "change the limit for every --rate-window"),
        .init("pause", "drop frames before they are encoded; time goes on"),
        .init("resume", "end a pause, with a keyframe"),
        .init(
            "snapshot a.jpg",
            "write a picture of the recording, which loses no frame: .jpg, .jpeg, .png, or -"),
        .init("controls", "list the camera's controls, with their values"),
        .init(
            "control brightness=128", "set some of them, now and whenever the camera is reconnected"),
        .init("keep a.mkv", "exempt a recording from --keep and --min-free, or all from one to another"),
        .init("release a.mkv", "end that"),
        .init("kept", "list the recordings that are kept"),
        .init("stats", "print statistics"),
        .init("doctor", "run 'camrec doctor --json' with the recording's rights"),
        .init("stop", "end the recording, like Ctrl-C"),
    ]

    @Argument(
        help: ArgumentHelp("The recording's --control-socket.", valueName: "PATH"),
        completion: .file(), transform: SocketPath.read)
    var path: String

    @Argument(
        help: ArgumentHelp("Command, with its value.", valueName: "COMMAND"),
        completion: .list(ControlCommand.names))
    var words: [String]

    @Flag(help: "With stats: print metrics for Prometheus instead of JSON.")
    var prometheus = false

    @Flag(help: "With snapshot: replace an existing file.")
    var overwrite = false

    /// The fields of every reply.
    private struct Outcome: Decodable {
        let ok: Bool
    }

    func validate() throws {
        let line = try line()
        do throws(ControlCommand.Mistake) { _ = try ControlCommand(line) } catch {
            throw ValidationError(error.description)
        }
        if overwrite, words.first != "snapshot" {
            throw ValidationError("--overwrite is for snapshot; leave it out")
        }
        if prometheus, words != ["stats"] { throw ValidationError("--prometheus is for stats; leave it out") }
    }

    /// How long the recording may take to answer.
    private var patience: Duration {
        // Drivers are slow to answer for cameras and GPUs.
        ["doctor", "controls", "control"].contains(words.first) ? .seconds(40) : ControlExchange.usualPatience
    }

    func run() throws {
        let console = Console(isQuiet: false, isVerbose: false)
        if let snapshotFile { try refuseUnusable(snapshotFile, console) }
        let exchange = try ControlExchange(path: path, console: console)
        guard exchange.send(try line()), let answer = exchange.readLine(patience: patience) else {
            console.fail("\(path): no answer; the recording may be ending")
            throw ExitStatus.unavailable
        }
        // A recording of another version has the same `ok`.
        let outcome = try? JSONDecoder().decode(Outcome.self, from: Data(answer.utf8))
        if let snapshotFile, outcome?.ok == true {
            return try takeSnapshot(answer, into: snapshotFile, from: exchange, console)
        }
        if words == ["doctor"], outcome?.ok == true {
            return try printFindings(answer, from: exchange, console)
        }
        guard prometheus, outcome?.ok == true else {
            _ = DescriptorWriter.write(answer + "\n", to: STDOUT_FILENO)
            guard outcome?.ok == true else { throw ExitStatus.unavailable }
            return
        }
        try printMetrics(answer, console)
    }

    private func printFindings(
        _ answer: String, from exchange: ControlExchange, _ console: Console
    ) throws(ExitStatus) {
        guard let findings = file(after: answer, from: exchange) else {
            console.fail("\(path): the findings did not arrive; the recording may be ending")
            throw .unavailable
        }
        _ = DescriptorWriter.write(String(decoding: findings, as: UTF8.self), to: STDOUT_FILENO)
    }

    /// Reads the file that follows an answer; nil if it does not arrive.
    private func file(after answer: String, from exchange: ControlExchange) -> [UInt8]? {
        let reply = try? JSONDecoder().decode(ControlReply.self, from: Data(answer.utf8))
        guard let count = reply?.bytes, (1...Self.largestFile).contains(count) else { return nil }
        return exchange.readBytes(count)
    }

    /// More than any picture of 16384x16384 takes.
    private static let largestFile = 1 << 30

    private func takeSnapshot(
        _ answer: String, into file: String, from exchange: ControlExchange, _ console: Console
    ) throws {
        guard let picture = self.file(after: answer, from: exchange) else {
            console.fail("\(path): the picture did not arrive; the recording may be ending")
            throw ExitStatus.unavailable
        }
        try writeSnapshot(picture, to: file, console)
        // Standard output has the picture.
        if file != FileSink.standardOutput { _ = DescriptorWriter.write(answer + "\n", to: STDOUT_FILENO) }
    }

    private func printMetrics(_ answer: String, _ console: Console) throws {
        guard let reply = try? JSONDecoder().decode(ControlReply.self, from: Data(answer.utf8)),
            let statistics = reply.stats
        else {
            console.fail("\(path): the recording's statistics are another version's; restart it to update it")
            throw ExitStatus.unavailable
        }
        var metrics = PrometheusText()
        RecordingMetrics([(path, statistics)]).add(to: &metrics) { Volume.space(of: $0)?.free }
        _ = DescriptorWriter.write(metrics.text, to: STDOUT_FILENO)
    }
}

// MARK: Snapshots

extension CtlCommand {
    /// The file of `snapshot FILE`; nil for other commands.
    var snapshotFile: String? { words.first == "snapshot" && words.count == 2 ? words[1] : nil }

    /// The command's line on the socket, where a picture has a format and no file.
    func line() throws -> String {
        if let word = words.first, ["keep", "release"].contains(word) {
            return words.count == 1
                ? word : "\(word) \(try paths().joined(separator: "\(ControlCommand.pathSeparator)"))"
        }
        guard words.first == "snapshot" else { return words.joined(separator: " ") }
        guard let file = snapshotFile else {
            throw ValidationError("snapshot needs a file; name one, as in: snapshot a.jpg")
        }
        let format = file == FileSink.standardOutput ? .jpeg : Snapshot.Format(path: file)
        guard let format else {
            throw ValidationError("'\(file)' must be named .jpg, .jpeg or .png; use another name")
        }
        return "snapshot \(format.rawValue)"
    }

    /// The paths of `keep FIRST LAST`. The recording may have another working folder.
    private func paths() throws -> [String] {
        let paths = words.dropFirst().map { path in
            access(path, F_OK) == 0
                ? Folder.absolute(Folder.of(path)).map {
                    "\($0)/\(path.split(separator: "/").suffix(1).joined())"
                } ?? path
                : path
        }
        guard
            !paths.contains(where: {
                $0.contains(where: \.isNewline) || $0.contains(ControlCommand.pathSeparator)
            })
        else { throw ValidationError("a name with a tab or a line break cannot be sent; rename the file") }
        return paths
    }

    /// Writes the picture, completely or not at all.
    func writeSnapshot(
        _ bytes: [UInt8], to path: String, _ console: Console
    ) throws(ExitStatus) {
        do throws(OutputError) {
            guard let cancellation = CancellationFlag() else {
                throw OutputError(.notCreated(errno: EMFILE), output: path)
            }
            try OutputFile.write(bytes, to: path, overwrite: overwrite, cancellation: cancellation)
        } catch {
            console.fail(error.description)
            throw ExitStatus(error)
        }
    }

    /// Throws known obstacles to writing, before a picture is taken.
    func refuseUnusable(_ path: String, _ console: Console) throws(ExitStatus) {
        do throws(OutputError) { try OutputFile.refuseUnusable(path, overwrite: overwrite) } catch {
            console.fail(error.description)
            throw ExitStatus(error)
        }
    }
}

// MARK: Connection

/// A connection to a recording's control socket: sends a line, and reads the reply.
final class ControlExchange {
    private let socket: Socket
    private var received: [UInt8] = []

    /// How long the recording may send nothing.
    static let usualPatience = Duration.seconds(8)
    private static let longestLine = 1 << 20

    /// How long to wait for the socket of a recording that is just starting.
    private static let startPatience = Duration.seconds(2)
    private static let pause = Duration.milliseconds(20)

    /// Connects to a socket, or prints why it cannot.
    init(path: String, console: Console) throws(ExitStatus) {
        do throws(NetworkError) {
            socket = try Self.connect(path: path, until: .now + Self.startPatience) {
                var time = timespec(tv_sec: 0, tv_nsec: Int(Self.pause.inNanoseconds))
                nanosleep(&time, nil)
            }
        } catch {
            console.fail(Self.explain(error, path))
            throw .unavailable
        }
    }

    /// Connects to a socket, and tries again while it does not exist or has no listener. The system does not report
    /// when a socket begins to listen.
    /// - Parameter pause: called between two attempts.
    static func connect(
        path: String, until deadline: Instant, pause: () -> Void
    ) throws(NetworkError) -> Socket {
        while true {
            do throws(NetworkError) { return try Socket.connect(path: path) } catch {
                switch error.kind {
                case .notConnected(ENOENT), .notConnected(ECONNREFUSED):
                    guard Instant.now < deadline else { throw error }
                default: throw error
                }
            }
            pause()
        }
    }

    /// Sends a command, without its newline.
    /// - Returns: whether the system took all of it.
    func send(_ line: String) -> Bool {
        let bytes = Array((line + "\n").utf8)
        return bytes.withUnsafeBytes { socket.send($0) } == .sent(bytes.count)
    }

    /// Reads a line, and returns it without its newline; nil if none comes.
    /// - Parameter patience: how long the recording may send nothing.
    func readLine(patience: Duration = usualPatience) -> String? {
        var searched = 0
        while true {
            if let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            searched = received.count
            guard searched < Self.longestLine, receive(patience) else { return nil }
        }
    }

    /// Reads bytes; nil if fewer come.
    func readBytes(_ count: Int) -> [UInt8]? {
        while received.count < count { guard receive(Self.usualPatience) else { return nil } }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    /// - Returns: false if nothing came in time.
    private func receive(_ patience: Duration) -> Bool {
        guard socket.waitUntilReadable(until: .now + patience) else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { room in
            guard case .received(let count) = socket.receive(into: room) else { return false }
            received += room[..<count]
            return true
        }
    }

    private static func explain(_ error: NetworkError, _ path: String) -> String {
        switch error.kind {
        case .notConnected(ENOENT), .notConnected(ENOTDIR):
            "\(path): no such socket; is a recording running with --control-socket \(path)?"
        case .notConnected(ECONNREFUSED):
            "\(path): no recording listens there; start one with --control-socket \(path)"
        case .notConnected(EACCES), .notConnected(EPERM):
            "\(path): no permission; only the recording user can send commands"
        default: error.description
        }
    }
}
