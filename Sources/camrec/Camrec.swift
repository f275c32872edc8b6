import CamAcceleration
import ArgumentParser
import Glibc
import CamCommandLine

/// The command: `camrec [record] [options] OUTPUT`, `camrec devices`, `camrec inspect FILE`.
@main
struct Camrec: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camrec",
        abstract: "Records a camera as H.264 or H.265, on the GPU if there is one.",
        version: Version.text(of: "camrec", libraries: LoadedLibraries.descriptions),
        subcommands: [
            RecordCommand.self, SnapshotCommand.self, DevicesCommand.self, InspectCommand.self,
            RemuxCommand.self,
            CtlCommand.self, DoctorCommand.self, EncoderTrialCommand.self, CheckCommand.self,
            AdoptCommand.self, KeepCommand.self,
        ],
        defaultSubcommand: RecordCommand.self)

    /// Whether the command line is just `--help`, which shows recording's options.
    private static var asksForHelpAlone: Bool { CommandLine.arguments.dropFirst() == ["--help"] }

    /// Replaces ArgumentParser's own `main`, so that every error is one line.
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        // A completion request repeats an unfinished command line, whose mistakes do not count yet.
        if ArgumentText.isCompletionRequest(words) { return main(words) }
        SignalWatch.holdUserSignals()
        StandardDescriptors.fill()
        if let damage = ArgumentText.damage(in: CommandLine.unsafeArgv) { refuse([damage]) }
        let given = CommandLineWords(words)
        if let answer = helpAnswer(to: given) { give(answer) }
        let mistake =
            ArgumentText.emptyValue(in: given.words) ?? RepeatedOption.mistake(in: given)
            ?? given.unknownOption.foreignMistake(in: given.words)
        if let mistake { refuse([mistake]) }
        let arguments = withSettings(given.words)
        if let mistake = CommandWord.mistake(in: given, with: arguments) { refuse([mistake]) }
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch {
            if let status = error as? ExitStatus { Glibc.exit(status.rawValue) }
            if exitCode(for: error) == .success {
                if let mistake = given.unknownOption.clusterMistake(in: given.words) { refuse([mistake]) }
                exit(withError: asksForHelpAlone ? CleanExit.helpRequest(RecordCommand.self) : error)
            }
            let reason =
                given.unknownOption.mistake(in: given.words) ?? ParserMessage.line(message(for: error))
            // A reason that already names the next step needs no reference to the help.
            refuse([reason.contains("; ") ? reason : "\(reason); see '\(given.help)'"])
        }
    }

    private static func give(_ answer: HelpAnswer) -> Never {
        switch answer {
        case .text(let text): _ = DescriptorWriter.write(text, to: STDOUT_FILENO)
        case .unknown(let reason): refuse([reason])
        }
        Glibc.exit(ExitStatus.done.rawValue)
    }

    /// Returns the command line with the arguments from its settings file.
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
    /// Creates camrec's console.
    init(isQuiet: Bool, isVerbose: Bool, isDetached: Bool = false) {
        self.init(program: "camrec", isQuiet: isQuiet, isVerbose: isVerbose, isDetached: isDetached)
    }
}
