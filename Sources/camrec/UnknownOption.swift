import Diagnostics

/// An option that recording does not have, with what to type in its place.
///
/// The parser reports it only if nothing else is wrong: the value of an unknown option would be refused as an
/// output first.
enum UnknownOption {
    private static let replacements: [Substring: String] = [
        "-b": "--bitrate", "-c": "--codec", "-d": "--device", "-e": "--encoder", "-f": "--format",
        "-g": "--keyframe-interval", "-i": "--device", "-n": "--frames", "-p": "--profile", "-q": "--quiet",
        "-r": "--fps", "-s": "--size", "-t": "--duration", "-v": "--verbose, or --version", "-V": "--version",
        "-y": "--overwrite",
    ]

    /// What to say of the first option that is unknown; nil where there is none.
    /// - Parameters:
    ///   - arguments: a command line of recording, without the program's name.
    ///   - names: the long options there are, without dashes.
    static func mistake(in arguments: [String], names: [String]) -> String? {
        for word in arguments.prefix(while: { $0 != "--" }) where word.hasPrefix("-") && word.count > 1 {
            let option = word.prefix { $0 != "=" }
            let name = String(option.drop { $0 == "-" })
            if option.hasPrefix("--") ? names.contains(name) : option == "-h" { continue }
            return "unknown option '\(option)'; \(advice(on: option, name, names))"
        }
        return nil
    }

    private static func advice(on option: Substring, _ name: String, _ names: [String]) -> String {
        if option == "-o" || option == "--output" { return "give the OUTPUT alone, without an option" }
        let nearest = replacements[option] ?? names.nearest(to: name).map { "--\($0)" }
        return nearest.map { "use \($0)" } ?? "'camrec --help' lists them"
    }
}
