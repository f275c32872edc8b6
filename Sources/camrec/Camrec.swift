import ArgumentParser
import Glibc

/// The command: `camrec [record] [options] OUTPUT`, `camrec devices`.
@main
struct Camrec: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camrec",
        abstract: "Records a camera as H.264, on the GPU where there is one.",
        version: "0.1.0",
        subcommands: [RecordCommand.self, DevicesCommand.self],
        defaultSubcommand: RecordCommand.self)

    /// Like ArgumentParser's own, but every error is one line.
    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            let code = exitCode(for: error)
            if let status = error as? ExitStatus { Glibc.exit(status.rawValue) }
            if code == .success { exit(withError: error) }
            let console = Console(isQuiet: false, isVerbose: false)
            console.fail(
                "\(message(for: error).split(separator: "\n").joined(separator: " ")); see 'camrec --help'")
            Glibc.exit(ExitStatus.usage.rawValue)
        }
    }
}
