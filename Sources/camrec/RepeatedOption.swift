import CamCommandLine

/// Detects a repeated option if both values may be intended: places and sources. For other options the last
/// value counts, so that a script's defaults can be overridden.
enum RepeatedOption {
    private static let single = ["device", "listen", "report", "timestamps", "control-socket", "settings"]

    /// Returns why the command line is refused, or nil if no such option is repeated.
    static func mistake(in words: CommandLineWords) -> String? {
        guard words.isRecording else { return nil }
        let names = words.optionNames
        if names.contains("output"), !words.operands(of: CommandOptions(of: words.command)).isEmpty {
            return
                "--output is for settings files, and has no effect next to an OUTPUT; name each OUTPUT without an option"
        }
        return single.first { name in names.count { $0 == name } > 1 }.map {
            "--\($0) is given twice; leave one out: camrec takes one"
        }
    }
}
