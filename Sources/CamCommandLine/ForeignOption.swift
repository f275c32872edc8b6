import ArgumentParser
import CamPlatform

/// An option of another program, such as ffmpeg's `-framerate 30` or mpv's `--fs`, translated into ours with the
/// user's value.
package struct ForeignOption {
    /// Says what to use instead: an option with its value, an operand, or a command.
    package typealias Translation = @Sendable (ForeignOption) -> String

    /// Other programs' options for which a program of ours has a translation.
    package struct Table: Sendable {
        private let translations: [String: Translation]

        /// - Parameter entries: names without dashes, with `-` instead of `_`, and their translation.
        package init(_ entries: [([String], Translation)]) {
            var table: [String: Translation] = [:]
            for (names, translation) in entries { for name in names { table[name] = translation } }
            translations = table
        }

        /// The names of all options that are translated.
        package var names: Set<String> { Set(translations.keys) }

        fileprivate func translation(of name: String) -> Translation? { translations[name] }
    }

    /// The option as typed, without dashes and value; `-` replaces `_`.
    package let name: String
    /// The words of the command line up to `--`.
    package let words: [String]
    private let translate: Translation

    /// - Parameters:
    ///   - word: the option as typed, perhaps with `=` and a value.
    ///   - words: the whole command line.
    ///   - table: the options that are translated.
    /// - Returns: nil if the table has no such option.
    package init?(_ word: String, in words: [String], of table: Table) {
        let name = Self.name(of: word)
        guard word.hasPrefix("-"), let translate = table.translation(of: name) else { return nil }
        (self.name, self.translate) = (name, translate)
        self.words = Array(words.prefix { $0 != "--" })
    }

    /// What to use instead: an option with its value, an operand, or a command.
    package var translation: String { translate(self) }

    /// The option that `translation` begins with, without dashes; nil if it begins with something else.
    package var replacement: String? {
        let words = translation.split(separator: " ")
        return words.count > 1 && words[1].hasPrefix("--") ? String(words[1].dropFirst(2)) : nil
    }

    /// The name of an option, as tables have it: `segment-time` for `-segment_time=60`.
    private static func name(of word: String) -> String {
        String(word.drop { $0 == "-" }.prefix { $0 != "=" }).replacing("_", with: "-")
    }

    /// The option's value as typed; nil if there is none.
    package var value: String? { value(of: [name]) }

    /// The value of the last of these options that was given; nil if none has a value.
    package func value(of names: Set<String>) -> String? {
        guard let index = words.lastIndex(where: { $0.hasPrefix("-") && names.contains(Self.name(of: $0)) })
        else { return nil }
        if let equals = words[index].firstIndex(of: "=") {
            return String(words[index][equals...].dropFirst())
        }
        let next = words.dropFirst(index + 1).first
        return next?.hasPrefix("-") == false ? next : nil
    }

    /// Whether another option was given as well.
    package func isGiven(_ other: String) -> Bool { words.contains { Self.name(of: $0) == other } }
}

// MARK: Translations

extension ForeignOption {
    /// Our option with the same value.
    /// - Parameter placeholder: stands for a value that is missing.
    package static func plain(_ option: String, _ placeholder: String) -> Translation {
        { "use \(option) \($0.value.map(quoted) ?? placeholder)" }
    }

    /// A fixed answer.
    package static func answer(_ text: String) -> Translation { { _ in text } }

    /// Puts a value that a shell would split or expand into quotes.
    package static func quoted(_ value: String) -> String {
        value.allSatisfy { $0.isLetter || $0.isNumber || "%+,-./:=@_".contains($0) } ? value : "'\(value)'"
    }

    /// `HOST:PORT`, with an IPv6 address in brackets.
    package static func address(host: String, port: String) -> String {
        "\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(port)"
    }

    /// Our option with the same time.
    /// - Parameters:
    ///   - unit: the other program's unit of a number without one.
    ///   - endless: the answer to 0.
    package func time(_ option: String, unit: String, endless: String) -> String {
        guard let value, let number = Double(value) else {
            return "use \(option) \(value.map(Self.quoted) ?? "TIME")"
        }
        if number == 0 { return endless }
        guard unit == "ms" else { return "use \(option) \(value)\(unit)" }
        guard let whole = Int(exactly: number / 1000) else { return "use \(option) \(value)ms" }
        return "use \(option) \(whole)s"
    }
}

// MARK: Unknown options

/// Detects an option that a command does not have, and suggests a replacement.
///
/// The parser reports it only if nothing else is wrong: the value of an unknown option would be refused as an
/// operand first.
package struct UnknownOption {
    private let command: any ParsableCommand.Type
    private let foreign: ForeignOption.Table
    private let translatesAll: Bool
    private let help: String

    /// - Parameters:
    ///   - command: the command whose options are known.
    ///   - foreign: other programs' options.
    ///   - translatesAll: whether the table is about this command; otherwise it answers only with the command's
    ///     own options.
    ///   - help: the command line that lists the options.
    package init(
        of command: any ParsableCommand.Type, foreign: ForeignOption.Table, translatesAll: Bool = true,
        help: String
    ) {
        (self.command, self.foreign, self.translatesAll, self.help) = (command, foreign, translatesAll, help)
    }

    /// Returns the message for an option of another program, or nil if there is none. Its value is no operand, and
    /// would be refused as one first.
    package func foreignMistake(in words: [String]) -> String? {
        guard words.contains(where: { ForeignOption($0, in: [], of: foreign) != nil }) else { return nil }
        return mistake(in: words)
    }

    /// Returns the message for a cluster of short options with an h in it, which the parser takes for `-h`.
    package func clusterMistake(in words: [String]) -> String? {
        words.contains { $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.count > 2 } ? mistake(in: words) : nil
    }

    /// Returns the message for the unknown options, or nil if there is none: advice on the first, and on all others
    /// that another program has.
    package func mistake(in words: [String]) -> String? {
        let names = CommandOptions(of: command).names
        let unknown = words.prefix { $0 != "--" }.filter { isUnknown($0, names) }
        guard let first = unknown.first else { return nil }
        if ArgumentText.isNegative(first) {
            return "'\(first)' is not an option; for a file of that name write ./\(first)"
        }
        var said = [advice(on: first, names, words)]
        var message = "unknown option '\(Self.option(first))'; \(said[0])"
        for word in unknown.dropFirst() {
            guard let advice = translation(of: word, names, words), !said.contains(advice) else { continue }
            said.append(advice)
            message += "; for '\(Self.option(word))' \(advice)"
        }
        return message
    }

    private func isUnknown(_ word: String, _ names: [String]) -> Bool {
        guard word.hasPrefix("-"), word.count > 1 else { return false }
        let option = Self.option(word)
        return option.hasPrefix("--") ? !names.contains(String(option.dropFirst(2))) : option != "-h"
    }

    /// The option without its value.
    private static func option(_ word: String) -> String { String(word.prefix { $0 != "=" }) }

    private func advice(on word: String, _ names: [String], _ words: [String]) -> String {
        translation(of: word, names, words)
            ?? names.nearest(to: String(Self.option(word).drop { $0 == "-" })).map { "use --\($0)" }
            ?? "'\(help)' lists them"
    }

    private func translation(of word: String, _ names: [String], _ words: [String]) -> String? {
        guard let option = ForeignOption(word, in: words, of: foreign),
            translatesAll || option.replacement.map({ names.contains($0) }) == true
        else { return nil }
        return option.translation
    }
}
