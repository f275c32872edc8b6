import Terminal

/// An option that is given twice where both might be meant, and one would count: of places and sources. Of other
/// options the last one counts, so that a script's own can be overridden.
enum RepeatedOption {
    private static let single = ["device", "listen", "report", "timestamps", "control-socket", "settings"]

    /// Why the command line is refused; nil where none of these is given twice.
    static func mistake(in words: CommandLineWords) -> String? {
        guard words.isRecording else { return nil }
        let names = words.optionNames
        if names.contains("output"), !words.operands(of: CommandOptions(of: words.command)).isEmpty {
            return
                "--output is for settings files, and has no effect beside an OUTPUT; give each OUTPUT alone"
        }
        return single.first { name in names.count { $0 == name } > 1 }.map {
            "--\($0) is given twice; leave one out: camrec takes one"
        }
    }
}
