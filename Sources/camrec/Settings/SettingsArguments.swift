import ArgumentParser

/// Merges a settings file into the command line that names it.
enum SettingsArguments {
    private static let option = "--settings"

    /// Puts the file's arguments before the command line's, except those whose option is given there, too.
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
        return [RecordCommand.name] + settings + given
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
