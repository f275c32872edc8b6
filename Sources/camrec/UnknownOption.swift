import CamCommandLine
import CamPlatform

/// Detects an option that the command does not have, and suggests a replacement.
///
/// The parser reports it only if nothing else is wrong: the value of an unknown option would be refused as an
/// output first.
enum UnknownOption {
    /// Other programs' names for recording's options.
    private static let replacements: [Substring: String] = [
        "-b": "--bitrate", "-c": "--codec", "-d": "--device", "-e": "--encoder", "-f": "--format",
        "-g": "--keyframe-interval", "-i": "--device", "-n": "--frames", "-p": "--profile", "-q": "--quiet",
        "-r": "--fps", "-s": "--size", "-t": "--duration", "-v": "--verbose, or --version", "-V": "--version",
        "-y": "--overwrite",
    ]

    /// Returns the message for the first unknown option, or nil if there is none.
    static func mistake(in words: CommandLineWords) -> String? {
        let names = CommandOptions(of: words.command).names
        for word in words.words.prefix(while: { $0 != "--" }) where word.hasPrefix("-") && word.count > 1 {
            let option = word.prefix { $0 != "=" }
            let name = String(option.drop { $0 == "-" })
            if option.hasPrefix("--") ? names.contains(name) : option == "-h" { continue }
            if ArgumentText.isNegative(word) {
                return "'\(word)' is not an option; for a file of that name write ./\(word)"
            }
            return "unknown option '\(option)'; \(advice(on: option, name, names, words))"
        }
        return nil
    }

    private static func advice(
        on option: Substring, _ name: String, _ names: [String], _ words: CommandLineWords
    ) -> String {
        if words.isRecording, option == "-o" || option == "--output" {
            return "name the OUTPUT without an option"
        }
        let known = words.isRecording ? replacements[option] : nil
        let nearest = known ?? names.nearest(to: name).map { "--\($0)" }
        return nearest.map { "use \($0)" } ?? "'\(words.help)' lists them"
    }
}
