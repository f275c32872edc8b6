import ArgumentParser
import Glibc
import CamRecorder
import CamPlatform
import CamCommandLine

extension RecordCommand {
    /// The keys of a settings file: this command's own long options.
    static var settingsKeys: SettingsKeys {
        // The excluded ones end the command immediately, or name the file itself.
        let others = ["help", "version", "settings"]
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
        var refusals = 0
        while let reason = refusal(of: arguments.compactMap(\.argument)) {
            guard refusals < mostRefusals else {
                problems.append(
                    SettingsProblem(
                        path: file.path, line: nil, "there are more mistakes; fix these first"))
                break
            }
            refusals += 1
            let culprit = culprit(of: reason, in: arguments)
            problems.append(
                SettingsProblem(path: file.path, line: culprit.map { arguments[$0].line }, reason))
            guard let culprit else { break }
            arguments.remove(at: culprit)
        }
        guard problems.isEmpty else { throw SettingsProblems(problems) }
        return arguments.compactMap(\.argument)
    }

    /// Returns warnings about a file's valid arguments: those that have no effect, and files that are not there.
    static func warnings(on arguments: [String]) -> [String] {
        guard let command = try? parsed(arguments) else { return [] }
        return command.warnings + command.missingFiles
    }

    /// Names that do not depend on the folder that the recording is made in.
    private var missingFiles: [String] {
        [live.caFile].compactMap { $0 }.filter { $0.hasPrefix("/") && access($0, F_OK) != 0 }
            .map { "ca-file \($0): no such file; put the certificates there" }
    }

    /// Parses a file's arguments as a command, adding an output if there is none.
    private static func parsed(_ arguments: [String]) throws -> RecordCommand {
        try parse(arguments + (namesOutput(arguments) ? [] : ["--output=camrec.h264"]))
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

    /// Each refusal is reported with its line, and takes several passes to find.
    private static let mostRefusals = 20

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

/// The problems in a settings file, in the order of its lines.
struct SettingsProblems: Error {
    let problems: [SettingsProblem]

    init(_ problems: [SettingsProblem]) {
        self.problems = problems.sorted { ($0.line ?? .max) < ($1.line ?? .max) }
    }
}
