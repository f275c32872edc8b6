import ArgumentParser

/// The command line with the settings file that it names.
enum SettingsArguments {
    private static let option = "--settings"

    /// Puts the file's arguments ahead of the command line's, without those whose option is given there, too.
    /// - Parameter arguments: without the program's name.
    static func expand(_ arguments: [String]) throws(SettingsProblems) -> [String] {
        let subcommands = Camrec.configuration.subcommands.compactMap { $0.configuration.commandName }
        let name = arguments.first.flatMap { subcommands.contains($0) ? $0 : nil }
        // The parser says what an empty name has to be.
        guard name == nil || name == RecordCommand.name, let path = path(in: arguments), !path.isEmpty else {
            return arguments
        }
        let given = arguments.dropFirst(name == nil ? 0 : 1)
        let names = Set(given.prefix { $0 != "--" }.map(option(of:)))
        let settings = try RecordCommand.arguments(ofSettings: path).filter { setting in
            let name = option(of: setting)
            return !names.contains(name) && !(exclusive.contains(name) && !names.isDisjoint(with: exclusive))
        }
        return [RecordCommand.name] + settings + given
    }

    /// Of which one says how much is told.
    private static let exclusive: Set<Substring> = ["--quiet", "--verbose"]

    /// An argument without its value, and without what turns a flag round.
    private static func option(of argument: String) -> Substring {
        let name = argument.prefix { $0 != "=" }
        return name.hasPrefix("--no-") ? "--\(name.dropFirst(5))" : name
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
