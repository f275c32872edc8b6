import ArgumentParser
import FoundationEssentials

/// The words of a command line, before parsing.
package enum ArgumentText {
    /// Returns an error about the first word that is not UTF-8, or nil. Swift would replace the invalid
    /// bytes, which would name another file.
    package static func damage(in words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> String? {
        var index = 0
        while let word = words[index] {
            guard String(validatingCString: word) != nil else {
                let shown = String(cString: word).replacing("\u{FFFD}", with: "?")
                return
                    "argument \(index), '\(shown)', is not UTF-8; rename the file, or write its name in UTF-8"
            }
            index += 1
        }
        return nil
    }

    /// Joins each negative number to the preceding option: the parser would mistake the number for an option
    /// and report a missing value.
    /// - Parameter flags: the names of the options without a value, without dashes.
    package static func joiningNegativeNumbers(_ words: [String], flags: Set<String>) -> [String] {
        var joined: [String] = []
        for word in words {
            if isNegative(word), let option = joined.last, option.hasPrefix("--"), option.count > 2,
                !option.contains("="), !flags.contains(String(option.dropFirst(2)))
            {
                joined[joined.count - 1] = "\(option)=\(word)"
            } else {
                joined.append(word)
            }
        }
        return joined
    }

    /// Returns an error about the first option with an empty value after `=`, as in `--report=$FILE`, or nil.
    /// The parser would use the next word as the value.
    package static func emptyValue(in words: [String]) -> String? {
        words.prefix { $0 != "--" }.first {
            $0.hasPrefix("--") && $0.hasSuffix("=") && $0.count { $0 == "=" } == 1
        }
        .map { "'\($0)' has no value; write one, or leave the option out" }
    }

    /// Whether a shell requests completions (ArgumentParser's `---completion`).
    package static func isCompletionRequest(_ words: [String]) -> Bool { words.first == "---completion" }

    /// Whether a word begins like a negative number.
    package static func isNegative(_ word: String) -> Bool {
        word.hasPrefix("-") && word.dropFirst().first?.isNumber == true
    }
}

// MARK: Options of a command

/// The options of a command, as ArgumentParser's machine-readable help lists them.
package struct CommandOptions {
    /// A long option.
    package struct Option: Equatable {
        /// The name without dashes; a flag and its inversion are separate options.
        package let name: String
        /// Whether it takes no value.
        package let isFlag: Bool
        /// Whether repeated values accumulate.
        package let isRepeating: Bool
    }

    /// All options, in the order of the help.
    package let all: [Option]

    /// Reads the options of a command from --experimental-dump-help, the only public list of them.
    package init(of command: any ParsableCommand.Type) {
        let help = try? JSONDecoder().decode(CommandHelp.self, from: Data(command._dumpHelp().utf8))
        all = (help?.command.arguments ?? []).flatMap { argument in
            (argument.names ?? []).filter { $0.kind == "long" }.map {
                Option(
                    name: $0.name, isFlag: argument.kind == "flag", isRepeating: argument.isRepeating)
            }
        }
    }

    /// The names of all options, without dashes.
    package var names: [String] { all.map(\.name) }

    /// The names of the options without a value.
    package var flags: Set<String> { Set(all.filter(\.isFlag).map(\.name)) }
}

/// The part of ArgumentParser's machine-readable help that lists a command's options (`ToolInfoV0` in
/// ArgumentParserToolInfo).
private struct CommandHelp: Decodable {
    let command: Command

    struct Command: Decodable {
        let arguments: [Argument]?
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

// MARK: Messages of the parser

/// ArgumentParser's message about a command line, as one line.
package enum ParserMessage {
    private static let list = ". Please provide one of "

    /// The message with a list of values as a phrase, in lower case, and without its full stop.
    ///
    /// Keeps other line breaks, which belong to a value; `printable` shows them as codes.
    package static func line(_ message: String) -> String { lowerCase(phrase(message)) }

    private static func phrase(_ message: String) -> String {
        guard let range = message.ranges(of: list).last else {
            // The only text of several lines without a value is about shells.
            let isAboutShells = message.contains("--generate-completion-script")
            let line = isAboutShells ? message.split(separator: "\n").joined(separator: " ") : message
            return line.hasSuffix(".") ? String(line.dropLast()) : line
        }
        return
            "\(message[..<range.lowerBound]): expected \(values(message[range.upperBound...]).alternatives)"
    }

    /// Begins a word with a small letter: `The value`, but not `H.265`.
    private static func lowerCase(_ line: String) -> String {
        guard let first = line.first, line.dropFirst().first?.isLowercase == true else { return line }
        return first.lowercased() + line.dropFirst()
    }

    /// Splits ArgumentParser's list, which quotes a few values on one line and puts many on a line each.
    private static func values(_ list: Substring) -> [String] {
        let bullets = list.split(separator: "\n").dropFirst()
        guard bullets.isEmpty else { return bullets.map { String($0.drop { " -".contains($0) }) } }
        return list.split(separator: "'", omittingEmptySubsequences: false).enumerated()
            .compactMap { $0.offset.isMultiple(of: 2) ? nil : String($0.element) }
    }
}
