import ArgumentParser
import Glibc
import Terminal

/// The command: `camrec [record] [options] OUTPUT`, `camrec devices`, `camrec inspect FILE`.
@main
struct Camrec: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camrec",
        abstract: "Records a camera as H.264 or H.265, on the GPU if there is one.",
        version: Version.current,
        subcommands: [
            RecordCommand.self, DevicesCommand.self, InspectCommand.self, RemuxCommand.self, CtlCommand.self,
            DoctorCommand.self, EncoderTrialCommand.self, CheckCommand.self, AdoptCommand.self,
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
        if let damage = ArgumentText.damage(in: CommandLine.unsafeArgv) { refuse([damage]) }
        let given = CommandLineWords(Array(CommandLine.arguments.dropFirst()))
        if let mistake = ArgumentText.emptyValue(in: given.words) ?? RepeatedOption.mistake(in: given) {
            refuse([mistake])
        }
        let arguments = withSettings(given.words)
        if let mistake = CommandWord.mistake(in: given, with: arguments) { refuse([mistake]) }
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch {
            if let status = error as? ExitStatus { Glibc.exit(status.rawValue) }
            if exitCode(for: error) == .success {
                // The parser takes any short options with an h among them for -h.
                if given.words.contains(where: isCluster), let mistake = UnknownOption.mistake(in: given) {
                    refuse([mistake])
                }
                exit(withError: asksForHelpAlone ? CleanExit.helpRequest(RecordCommand.self) : error)
            }
            let reason = UnknownOption.mistake(in: given) ?? ParserMessage.line(message(for: error))
            // A reason that says what to do needs no more.
            refuse([reason.contains("; ") ? reason : "\(reason); see '\(given.help)'"])
        }
    }

    private static func isCluster(_ word: String) -> Bool {
        word.hasPrefix("-") && !word.hasPrefix("--") && word.count > 2
    }

    /// The command line, with the settings file that it names.
    private static func withSettings(_ given: [String]) -> [String] {
        do throws(SettingsProblems) {
            return try SettingsArguments.expand(given)
        } catch { refuse(error.problems.map(\.description)) }
    }

    private static func refuse(_ reasons: [String]) -> Never {
        let console = Console(isQuiet: false, isVerbose: false)
        for reason in reasons { console.fail(reason) }
        Glibc.exit(ExitStatus.usage.rawValue)
    }
}

extension Console {
    /// camrec's.
    init(isQuiet: Bool, isVerbose: Bool, isDetached: Bool = false) {
        self.init(program: "camrec", isQuiet: isQuiet, isVerbose: isVerbose, isDetached: isDetached)
    }
}
