import ArgumentParser
import Diagnostics

/// The command line with the settings file that it names.
enum SettingsArguments {
    private static let option = "--settings"

    /// Puts the file's arguments ahead of the command line's, which win because the last of an option counts.
    /// - Parameter arguments: without the program's name.
    static func expand(_ arguments: [String]) throws(SettingsProblems) -> [String] {
        let subcommands = Camrec.configuration.subcommands.compactMap { $0.configuration.commandName }
        let name = arguments.first.flatMap { subcommands.contains($0) ? $0 : nil }
        guard name == nil || name == RecordCommand.name, let path = path(in: arguments) else {
            return arguments
        }
        let settings = try RecordCommand.arguments(ofSettings: path)
        return [RecordCommand.name] + settings + arguments.dropFirst(name == nil ? 0 : 1)
    }

    /// The file that is named last.
    private static func path(in arguments: [String]) -> String? {
        let options = arguments.prefix { $0 != "--" }
        guard let index = options.lastIndex(where: { $0 == option || $0.hasPrefix("\(option)=") }) else {
            return nil
        }
        if options[index] != option { return String(options[index].dropFirst(option.count + 1)) }
        return index + 1 < options.count ? options[index + 1] : nil
    }
}
