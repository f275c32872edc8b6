import ArgumentParser
import Glibc
import Terminal

/// The command: `camrec [record] [options] OUTPUT`, `camrec devices`, `camrec inspect FILE`.
@main
struct Camrec: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camrec",
        abstract: "Records a camera as H.264 and H.265, on the GPU where there is one.",
        version: "0.1.0",
        subcommands: [
            RecordCommand.self, DevicesCommand.self, InspectCommand.self, RemuxCommand.self, CtlCommand.self,
            DoctorCommand.self, EncoderTrialCommand.self, CheckCommand.self,
        ],
        defaultSubcommand: RecordCommand.self)

    /// `camrec --help`: recording is what the program is for, so its options are the help.
    private static var asksForHelpAlone: Bool {
        CommandLine.arguments.count == 2 && ["-h", "--help", "help"].contains(CommandLine.arguments[1])
    }

    /// Like ArgumentParser's own, but every error is one line.
    static func main() {
        SignalWatch.holdUserSignals()
        StandardDescriptors.fill()
        let arguments = arguments()
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch {
            let code = exitCode(for: error)
            if let status = error as? ExitStatus { Glibc.exit(status.rawValue) }
            if code == .success {
                exit(withError: asksForHelpAlone ? CleanExit.helpRequest(RecordCommand.self) : error)
            }
            let console = Console(isQuiet: false, isVerbose: false)
            console.fail(
                "\(message(for: error).split(separator: "\n").joined(separator: " ")); see 'camrec --help'")
            Glibc.exit(ExitStatus.usage.rawValue)
        }
    }

    /// The command line, with the settings file that it names.
    private static func arguments() -> [String] {
        do throws(SettingsProblems) {
            return try SettingsArguments.expand(Array(CommandLine.arguments.dropFirst()))
        } catch {
            let console = Console(isQuiet: false, isVerbose: false)
            for problem in error.problems { console.fail(problem.description) }
            Glibc.exit(ExitStatus.usage.rawValue)
        }
    }
}

extension Console {
    /// camrec's.
    init(isQuiet: Bool, isVerbose: Bool, isDetached: Bool = false) {
        self.init(program: "camrec", isQuiet: isQuiet, isVerbose: isVerbose, isDetached: isDetached)
    }
}
