/// The words of a command line, before parsing.
public enum ArgumentText {
    /// What is wrong with words that are not UTF-8; nil if all are. Swift would replace the invalid bytes,
    /// and so name another file.
    public static func damage(in words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> String? {
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

    /// The words with each negative number joined to the option before it: the parser would mistake it for an
    /// option, and report a missing value.
    /// - Parameter flags: the options without a value, without dashes.
    public static func joiningNegativeNumbers(_ words: [String], flags: Set<String>) -> [String] {
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

    /// What is wrong with an option whose value after `=` is empty, as in `--report=$FILE`; nil if there is
    /// none. The parser would use the next word as the value.
    public static func emptyValue(in words: [String]) -> String? {
        words.prefix { $0 != "--" }.first {
            $0.hasPrefix("--") && $0.hasSuffix("=") && $0.count { $0 == "=" } == 1
        }
        .map { "'\($0)' has no value; write one, or leave the option out" }
    }

    /// Whether a shell asks what may complete a word (ArgumentParser's `---completion`).
    public static func isCompletionRequest(_ words: [String]) -> Bool { words.first == "---completion" }

    /// Whether a word begins like a negative number.
    public static func isNegative(_ word: String) -> Bool {
        word.hasPrefix("-") && word.dropFirst().first?.isNumber == true
    }
}
