/// The words of a command line, ahead of parsing.
public enum ArgumentText {
    /// What is wrong with words that are no text; nil where all are. Swift would replace what is not UTF-8 in them,
    /// and another file would be meant.
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

    /// The words with a negative number joined to the option before it: the parser would take it for an option, and
    /// say that the value is missing.
    public static func joiningNegativeNumbers(_ words: [String]) -> [String] {
        var joined: [String] = []
        for word in words {
            let isNegative = word.hasPrefix("-") && word.dropFirst().first?.isNumber == true
            if isNegative, let option = joined.last, option.hasPrefix("--"), option.count > 2,
                !option.contains("=")
            {
                joined[joined.count - 1] = "\(option)=\(word)"
            } else {
                joined.append(word)
            }
        }
        return joined
    }
}
