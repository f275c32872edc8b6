import ArgumentParser
import CamCommandLine

/// The words of a command line, before parsing.
struct CommandLineWords {
    /// The words without the program's name; negative numbers are joined to their option.
    let words: [String]
    /// The command they belong to: recording unless the first word names another.
    let command: any ParsableCommand.Type
    /// Whether the first word names the command.
    let isNamed: Bool

    /// - Parameter given: the command line without the program's name.
    init(_ given: [String]) {
        let named = Camrec.configuration.subcommands.first {
            $0.configuration.commandName == given.first
        }
        let command = named ?? RecordCommand.self
        self.command = command
        isNamed = named != nil
        words =
            given.contains(where: ArgumentText.isNegative)
            ? ArgumentText.joiningNegativeNumbers(given, flags: CommandOptions(of: command).flags) : given
    }

    /// Whether the command records.
    var isRecording: Bool { command == RecordCommand.self && words.first != "help" }

    /// The command line that shows the command's options.
    var help: String {
        let name = isNamed && !isRecording ? words.first.map { "\($0) " } : nil
        return "camrec \(name ?? "")--help"
    }

    /// The given options in order, without dashes and values; an inverted flag appears under the flag's name.
    var optionNames: [String] {
        words.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map { word in
            let name = word.dropFirst(2).prefix { $0 != "=" }
            return String(name.hasPrefix("no-") ? name.dropFirst(3) : name)
        }
    }

    /// Returns the words that are neither the command, nor options, nor their values.
    func operands(of options: CommandOptions) -> [String] {
        let valued = Set(options.names).subtracting(options.flags)
        var operands: [String] = []
        var isValue = false
        for (index, word) in words.dropFirst(isNamed ? 1 : 0).enumerated() {
            if word == "--" { return operands + words.dropFirst(index + (isNamed ? 2 : 1)) }
            if word.hasPrefix("-"), word != "-" {
                isValue = word.hasPrefix("--") && valued.contains(String(word.dropFirst(2)))
            } else {
                if !isValue { operands.append(word) }
                isValue = false
            }
        }
        return operands
    }
}
