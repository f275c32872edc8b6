import ArgumentParser
import CamCommandLine
import CamPlatform
import CamRecorder
import Glibc

/// Merges a settings file into the command line that names it.
enum SettingsArguments {
    private static let option = "--settings"

    /// Puts the file's arguments before the command line's, without the options that the command line also
    /// gives.
    /// - Parameter arguments: without the program's name.
    static func expand(_ arguments: [String]) throws(SettingsProblems) -> [String] {
        let subcommands = Camrec.configuration.subcommands.compactMap { $0.configuration.commandName }
        let name = arguments.first.flatMap { subcommands.contains($0) ? $0 : nil }
        // The parser reports an empty name.
        guard name == nil || name == RecordCommand.name, let path = path(in: arguments), !path.isEmpty else {
            return arguments
        }
        let given = arguments.dropFirst(name == nil ? 0 : 1)
        let names = Set(given.prefix { $0 != "--" }.map(option(of:)))
        let settings = try RecordCommand.arguments(ofSettings: path).filter { setting in
            let name = option(of: setting)
            return !names.contains(name) && !(exclusive.contains(name) && !names.isDisjoint(with: exclusive))
        }
        let namesCodec = settings.contains { option(of: $0) == "--codec" }
        return [RecordCommand.name] + settings + (namesCodec ? ["--codec-of-settings"] : []) + given
    }

    /// Options that exclude each other.
    private static let exclusive: Set<Substring> = ["--quiet", "--verbose"]

    /// Returns an argument's option without its value and without a flag's inversion.
    private static func option(of argument: String) -> Substring {
        let name = argument.prefix { $0 != "=" }
        return name.hasPrefix("--no-") ? "--\(name.dropFirst(5))" : name
    }

    /// Returns the settings file named last.
    private static func path(in arguments: [String]) -> String? {
        let options = arguments.prefix { $0 != "--" }
        guard let index = options.lastIndex(where: { $0 == option || $0.hasPrefix("\(option)=") }) else {
            return nil
        }
        if options[index] != option { return String(options[index].dropFirst(option.count + 1)) }
        return index + 1 < options.count ? options[index + 1] : nil
    }
}

// MARK: Arguments of a file

extension RecordCommand {
    /// The keys of a settings file: this command's own long options.
    static var settingsKeys: SettingsKeys {
        // The excluded ones end the command immediately, or name the file itself.
        let others = ["help", "version", "settings", "codec-of-settings"]
        return SettingsKeys(
            CommandOptions(of: Self.self).all.filter { !others.contains($0.name) }.map {
                .init(name: $0.name, isFlag: $0.isFlag, isRepeating: $0.isRepeating)
            })
    }

    /// The names of all long options, without dashes.
    static var longOptions: [String] { CommandOptions(of: Self.self).names }

    /// Returns the arguments of a settings file, valid by themselves except for a possibly missing output.
    static func arguments(ofSettings path: String) throws(SettingsProblems) -> [String] {
        let file: SettingsFile
        do throws(SettingsProblem) {
            file = try SettingsFile(path: path)
        } catch { throw SettingsProblems([error]) }
        var (arguments, problems) = settingsKeys.arguments(of: file)
        problems += file.problems
        var hasMore = false
        while let reason = refusal(of: arguments.compactMap(\.argument)) {
            // Finding the line of a refusal takes several passes.
            hasMore = problems.count >= SettingsProblems.most
            if hasMore { break }
            let culprit = culprit(of: reason, in: arguments)
            problems.append(
                SettingsProblem(path: file.path, line: culprit.map { arguments[$0].line }, reason))
            guard let culprit else { break }
            arguments.remove(at: culprit)
        }
        guard problems.isEmpty else { throw SettingsProblems(problems, hasMore: hasMore) }
        return arguments.compactMap(\.argument)
    }

    /// Returns warnings about a file's valid arguments: options without effect, and missing files.
    static func warnings(on arguments: [String]) -> [String] {
        guard let command = try? parsed(arguments) else { return [] }
        return command.warnings + command.missingFiles
    }

    /// Warnings about missing files, for paths that do not depend on the recording's folder.
    private var missingFiles: [String] {
        [live.caFile].compactMap { $0 }.filter { $0.hasPrefix("/") && access($0, F_OK) != 0 }
            .map { "ca-file \($0): no such file; put the certificates there" }
    }

    /// Parses a file's arguments as a command, adding an output if there is none.
    private static func parsed(_ arguments: [String]) throws -> RecordCommand {
        try parse(arguments + (namesOutput(arguments) ? [] : ["--output=camrec.mkv"]))
    }

    /// Returns whether a file's arguments name an output.
    static func namesOutput(_ arguments: [String]) -> Bool {
        arguments.contains { $0.hasPrefix("--output=") || $0.hasPrefix("--listen=") }
    }

    /// Returns the camera that a file's arguments name.
    static func device(_ arguments: [String]) -> String? {
        let option = "--device="
        return arguments.last { $0.hasPrefix(option) }.map { String($0.dropFirst(option.count)) }
    }

    /// Finds the line that causes a refusal, by bisection: a long file would take too many passes line by line.
    /// Returns nil if the refusal occurs without any line.
    private static func culprit(
        of reason: String, in arguments: [(line: Int, argument: String?)]
    ) -> Int? {
        func isRefused(upTo end: Int) -> Bool {
            refusal(of: arguments[..<end].compactMap(\.argument)) == reason
        }
        guard !isRefused(upTo: 0) else { return nil }
        var (sound, refused) = (0, arguments.count)
        while refused - sound > 1 {
            let middle = (sound + refused) / 2
            if isRefused(upTo: middle) { refused = middle } else { sound = middle }
        }
        return refused - 1
    }

    /// Returns why a recording with these arguments would be refused, or nil if it would start.
    private static func refusal(of arguments: [String]) -> String? {
        do {
            try parsed(arguments).preflight(at: WallTime.now)
            return nil
        } catch let error as RecordingError {
            return error.description
        } catch {
            return ParserMessage.line(message(for: error))
        }
    }
}

/// The problems in a settings file, in the order of its lines: the first ones, if there are many.
struct SettingsProblems: Error {
    let problems: [SettingsProblem]

    /// The maximum number of problems to report: one mistake may have many consequences.
    static let most = 5

    /// - Parameter hasMore: whether there are problems besides these.
    init(_ problems: [SettingsProblem], hasMore: Bool = false) {
        let sorted = problems.sorted { ($0.line ?? .max) < ($1.line ?? .max) }
        let more = sorted.dropFirst(hasMore ? 0 : Self.most).first.map {
            SettingsProblem(path: $0.path, line: nil, "there are more mistakes; fix these first")
        }
        self.problems = sorted.prefix(Self.most) + [more].compactMap { $0 }
    }
}

// MARK: Check

/// `camrec check FILE`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks settings files and reports their mistakes.",
        usage: "camrec check <FILE>...",
        discussion: """
            A settings file has one long option per line, without its dashes, as 'key = value': flags are yes or no, \
            'output' is OUTPUT, '#' starts a comment. 'camrec --settings FILE' reads it.

            Exit codes: 0 no errors; 1 errors, each on a line of standard error with its place.
            """)

    @Argument(
        help: ArgumentHelp("Settings files, such as /etc/camrec/NAME.conf.", valueName: "FILE"),
        completion: .file(), transform: PlainValue.text("expected a file's name"))
    var files: [String]

    func run() throws {
        let console = Console(isQuiet: false, isVerbose: false)
        var status = ExitStatus.done
        for path in files {
            do throws(SettingsProblems) {
                let arguments = try RecordCommand.arguments(ofSettings: path)
                for warning in RecordCommand.warnings(on: arguments) { console.warn("\(path): \(warning)") }
                console.inform("\(path): all is well")
                if !RecordCommand.namesOutput(arguments) {
                    console.inform(
                        "\(path): neither 'output' nor 'listen': name an OUTPUT on the command line")
                }
            } catch {
                for problem in error.problems { console.fail(problem.description) }
                status = .violation
            }
        }
        if status != .done { throw status }
    }
}
