/// Help that fits a screen: what a program is, examples, the options that most people need, and where the rest is.
package struct ShortHelp: Sendable {
    /// A command line or an option, and what it does.
    package struct Entry: Sendable {
        /// As typed.
        package let text: String
        /// What it does; may be empty.
        package let meaning: String

        /// Creates an entry.
        package init(_ text: String, _ meaning: String = "") { (self.text, self.meaning) = (text, meaning) }
    }

    /// What the program is, as a sentence.
    package let abstract: String
    /// Command lines to copy.
    package let examples: [Entry]
    /// The options that most people need.
    package let options: [Entry]
    /// Where the rest is.
    package let more: [Entry]

    /// Creates a help text.
    package init(_ abstract: String, examples: [Entry], options: [Entry], more: [Entry]) {
        (self.abstract, self.examples, self.options, self.more) = (abstract, examples, options, more)
    }

    /// The text, with a final newline.
    package var text: String {
        let sections = [("Examples", examples), ("Options that most people need", options), ("More", more)]
        return "\(abstract)\n"
            + sections.map { "\n\($0.0):\n\(AlignedColumns.text(of: $0.1))\n" }.joined()
    }

    /// Returns the answer to `-h`, `help` or `help TOPIC`; nil for any other command line, for which neither text is
    /// made: that would take a fifth of a program's start.
    /// - Parameters:
    ///   - words: the command line without the program's name.
    ///   - short: what `-h` prints.
    ///   - help: the text of `--help`.
    package static func answer(
        to words: [String], short: @autoclosure () -> ShortHelp, help: @autoclosure () -> String
    ) -> HelpAnswer? {
        if words.prefix(while: { $0 != "--" }).contains("-h") || words == ["help"] {
            return .text(short().text)
        }
        guard words.count == 2, words[0] == "help", words[1] != "--help" else { return nil }
        let topics = HelpTopics(help())
        return topics.text(on: words[1]).map(HelpAnswer.text)
            ?? .unknown(
                "'\(words[1])' is not a topic; the topics are \(topics.names.joined(separator: ", "))")
    }
}

/// The answer to a question for help.
package enum HelpAnswer: Sendable, Equatable {
    case text(String)
    /// Why there is no text, with the next step.
    case unknown(String)
}

/// Text in two columns, for a terminal of 80.
package enum AlignedColumns {
    // ArgumentParser breaks a line of 80.
    private static let width = 79

    /// Returns a line for each entry, indented, with its meaning in the same column as the others'. A long meaning is
    /// continued on further lines.
    package static func text(of entries: [ShortHelp.Entry]) -> String {
        let indentation = entries.filter { !$0.meaning.isEmpty }.map(\.text.count).max().map { $0 + 4 } ?? 0
        return entries.flatMap { entry in
            let lines = wrapped(entry.meaning, to: width - indentation)
            guard let first = lines.first else { return ["  \(entry.text)"] }
            let padding = String(repeating: " ", count: indentation - 2 - entry.text.count)
            return ["  \(entry.text)\(padding)\(first)"]
                + lines.dropFirst().map { String(repeating: " ", count: indentation) + $0 }
        }.joined(separator: "\n")
    }

    private static func wrapped(_ text: String, to width: Int) -> [String] {
        text.split(separator: " ").reduce(into: []) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}

// MARK: Topics

/// The sections of a command's whole help.
package struct HelpTopics: Sendable {
    /// A section: `rate-and-quality`, and its lines.
    fileprivate struct Section: Sendable {
        let name: String
        let text: Substring
    }

    private let sections: [Section]

    /// - Parameter help: the text of `--help`, whose sections begin with their title and a colon and end at an empty
    ///   line.
    package init(_ help: String) {
        sections = help.split(separator: "\n\n", omittingEmptySubsequences: true).compactMap { text in
            guard let colon = text.firstIndex(of: ":"), text.first?.isUppercase == true,
                text[colon...].dropFirst().first?.isWhitespace == true
            else { return nil }
            let title = text[..<colon]
            guard title.allSatisfy({ $0.isLetter || $0 == " " }), title.split(separator: " ").count < 4 else {
                return nil
            }
            return Section(name: title.lowercased().replacing(" ", with: "-"), text: text)
        }
    }

    /// The names of the sections.
    package var names: [String] { sections.map(\.name) }

    /// Returns a section, with a final newline; nil if there is none.
    /// - Parameter topic: the name of a section, a word of it, or an option in it, with or without dashes.
    package func text(on topic: String) -> String? {
        let name = String(topic.lowercased().drop { $0 == "-" })
        let section =
            sections.first { $0.name == name }
            ?? sections.first { $0.name.split(separator: "-").contains { $0 == name } }
            ?? sections.first { $0.describes(option: name) }
        return section.map { "\($0.text)\n" }
    }
}

extension HelpTopics.Section {
    fileprivate func describes(option name: String) -> Bool {
        text.split(separator: "\n").contains { line in
            line.hasPrefix("  --")
                && line.drop { $0 == " " }.prefix { $0 != " " }.split(separator: "/").contains("--\(name)")
        }
    }
}
