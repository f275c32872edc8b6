import ArgumentParser
import Files
import FoundationEssentials
import Glibc
import Network
import Recorder
import Terminal
import Threading
import Time

/// `camrec ctl PATH COMMAND`: sends a command to a running recording and prints the reply.
struct CtlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ctl",
        abstract: "Sends a command to a recording with --control-socket.",
        usage: "camrec ctl [--prometheus] <PATH> <COMMAND>",
        discussion: """
            Commands:
              keyframe      make the next frame a keyframe
              trigger       write what --ring has kept, and what follows
              bitrate 2M    change the average rate, 1k to 2000M; keyframeForced says whether that needs a keyframe
              max-bitrate 3M   change the limit for every --rate-window
              pause         drop frames before they are encoded; time goes on
              resume        end a pause, with a keyframe
              stats         print statistics
              stop          end the recording, like Ctrl-C

            The answer is one line of JSON. Exit codes: 0 done; 64 unknown command; 69 refused, or no recording there.
            """)

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

    /// The fields of every reply.
    private struct Outcome: Decodable {
        let ok: Bool
    }

    private static let patience = Duration.seconds(5)
    private static let longestAnswer = 1 << 20

    func validate() throws {
        do throws(ControlCommand.Mistake) { _ = try ControlCommand(words.joined(separator: " ")) } catch {
            throw ValidationError(error.description)
        }
        if prometheus, words != ["stats"] { throw ValidationError("--prometheus is for stats; leave it out") }
    }

    func run() throws {
        let console = Console(isQuiet: false, isVerbose: false)
        guard let answer = try ask(console) else {
            console.fail("\(path): no answer; the recording may be ending")
            throw ExitStatus.unavailable
        }
        // A recording of another version has the same `ok`.
        let outcome = try? JSONDecoder().decode(Outcome.self, from: Data(answer.utf8))
        guard prometheus, outcome?.ok == true else {
            _ = DescriptorWriter.write(answer + "\n", to: STDOUT_FILENO)
            guard outcome?.ok == true else { throw ExitStatus.unavailable }
            return
        }
        try printMetrics(answer, console)
    }

    private func printMetrics(_ answer: String, _ console: Console) throws {
        guard let reply = try? JSONDecoder().decode(ControlReply.self, from: Data(answer.utf8)),
            let statistics = reply.stats
        else {
            console.fail("\(path): the recording's statistics are another version's; restart it to update it")
            throw ExitStatus.unavailable
        }
        let metrics = statistics.prometheus(recording: path) { Volume.space(of: $0)?.free }
        _ = DescriptorWriter.write(metrics, to: STDOUT_FILENO)
    }

    private func connect(_ console: Console) throws(ExitStatus) -> Socket {
        do throws(NetworkError) { return try Socket.connect(path: path) } catch {
            console.fail(explain(error))
            throw .unavailable
        }
    }

    private func explain(_ error: NetworkError) -> String {
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

    /// Returns the reply without its newline, or nil if none came.
    private func ask(_ console: Console) throws -> String? {
        let socket = try connect(console)
        let line = Array((words.joined(separator: " ") + "\n").utf8)
        guard line.withUnsafeBytes({ socket.send($0) }) == .sent(line.count) else { return nil }
        let deadline = Instant.now + Self.patience
        var (answer, room) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while answer.count < Self.longestAnswer, socket.waitUntilReadable(until: deadline) {
            guard case .received(let count) = room.withUnsafeMutableBytes({ socket.receive(into: $0) }) else {
                return nil
            }
            answer += room[..<count]
            if answer.last == UInt8(ascii: "\n") { return String(decoding: answer.dropLast(), as: UTF8.self) }
        }
        return nil
    }
}
