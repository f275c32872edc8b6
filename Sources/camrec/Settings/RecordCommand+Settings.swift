import ArgumentParser
import Diagnostics
import FoundationEssentials

extension RecordCommand {
    /// The keys of a settings file: this command's own long options.
    static var settingsKeys: SettingsKeys {
        // The machine-readable help, which --experimental-dump-help prints, is the one public list of options.
        let help = try? JSONDecoder().decode(CommandHelp.self, from: Data(_dumpHelp().utf8))
        return SettingsKeys((help?.command.arguments ?? []).compactMap(SettingsKeys.Option.init))
    }

    /// The arguments of a settings file, valid by themselves but for an output that may be missing.
    static func arguments(ofSettings path: String) throws(SettingsProblems) -> [String] {
        let file: SettingsFile
        do throws(SettingsProblem) {
            file = try SettingsFile(path: path)
        } catch { throw SettingsProblems([error]) }
        var (arguments, problems) = settingsKeys.arguments(of: file)
        problems += file.problems
        while let reason = refusal(of: arguments.compactMap(\.argument)) {
            let culprit = culprit(of: reason, in: arguments)
            problems.append(
                SettingsProblem(path: file.path, line: culprit.map { arguments[$0].line }, reason))
            guard let culprit else { break }
            arguments.remove(at: culprit)
        }
        guard problems.isEmpty else { throw SettingsProblems(problems) }
        return arguments.compactMap(\.argument)
    }

    /// Whether a file's arguments say where the recording goes.
    static func namesOutput(_ arguments: [String]) -> Bool {
        arguments.contains { $0.hasPrefix("--output=") || $0.hasPrefix("--listen=") }
    }

    /// The last line without which the arguments are no longer refused for this reason.
    private static func culprit(
        of reason: String, in arguments: [(line: Int, argument: String?)]
    ) -> Int? {
        arguments.indices.last { index in
            var others = arguments
            others.remove(at: index)
            return refusal(of: others.compactMap(\.argument)) != reason
        }
    }

    /// Why a recording would not begin with these arguments; nil where it would.
    private static func refusal(of arguments: [String]) -> String? {
        do {
            _ = try parse(arguments + (namesOutput(arguments) ? [] : ["--output=camrec.h264"]))
            return nil
        } catch {
            return message(for: error).split(separator: "\n").joined(separator: " ")
        }
    }
}

/// What is wrong with a settings file, in the order of its lines.
struct SettingsProblems: Error {
    let problems: [SettingsProblem]

    init(_ problems: [SettingsProblem]) {
        self.problems = problems.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
    }
}

/// What ArgumentParser's machine-readable help says of a command (`ToolInfoV0` of its ArgumentParserToolInfo).
private struct CommandHelp: Decodable {
    let command: Command

    struct Command: Decodable {
        let arguments: [Argument]
    }

    struct Argument: Decodable {
        let kind: String
        let isRepeating: Bool
        let names: [Name]?
    }

    struct Name: Decodable {
        let kind: String
        let name: String
    }
}

extension SettingsKeys.Option {
    /// Nil for what makes no setting: arguments without a name, and options that end the command at once or name
    /// the file itself.
    fileprivate init?(_ argument: CommandHelp.Argument) {
        guard let name = argument.names?.first(where: { $0.kind == "long" })?.name,
            !["help", "version", "settings"].contains(name)
        else { return nil }
        self.init(name: name, isFlag: argument.kind == "flag", isRepeating: argument.isRepeating)
    }
}
