import Diagnostics

/// A first word on the command line that was meant as a command and is none: without this check camrec would open
/// the camera and record into a file of that name.
enum CommandWord {
    /// What other programs call camrec's commands.
    private static let synonyms = [
        "capture": "camrec record", "rec": "camrec record", "start": "camrec record",
        "list": "camrec devices",
        "ls": "camrec devices", "cameras": "camrec devices", "info": "camrec inspect",
        "probe": "camrec inspect", "show": "camrec inspect", "analyse": "camrec inspect",
        "analyze": "camrec inspect", "convert": "camrec remux", "mux": "camrec remux",
        "diagnose": "camrec doctor", "validate": "camrec check", "verify": "camrec check",
        "status": "camrec ctl SOCKET stats", "kill": "camrec ctl SOCKET stop", "play": "camplay",
        "view": "camplay", "watch": "camplay", "version": "camrec --version",
    ]

    /// Why the first word is refused; nil where it is a command or may be an output.
    /// - Parameters:
    ///   - given: the command line without the program's name.
    ///   - arguments: the same with what a settings file adds.
    static func mistake(in given: [String], with arguments: [String]) -> String? {
        guard let word = given.first, OutputName(word).isBareWord, word != "help",
            !commands(andHidden: true).contains(word),
            !arguments.contains(where: { $0 == "--codec" || $0.hasPrefix("--codec=") })
        else { return nil }
        return "'\(word)' is not a command; \(suggestion(for: word)); "
            + "to record into a file of that name, add --codec h264 or --codec hevc"
    }

    private static func commands(andHidden: Bool) -> [String] {
        Camrec.configuration.subcommands.filter { $0.configuration.shouldDisplay || andHidden }
            .compactMap { $0.configuration.commandName }
    }

    private static func suggestion(for word: String) -> String {
        let (commands, orders) = (commands(andHidden: false), ControlCommand.names)
        let names = synonyms.merging(commands.map { ($0, "camrec \($0)") }) { $1 }
            .merging(orders.map { ($0, "camrec ctl SOCKET \($0)") }) { $1 }
        guard let name = names.keys.sorted().nearest(to: word), let command = names[name] else {
            return "the commands are \(commands.joined(separator: ", "))"
        }
        return "the nearest is '\(command)'"
    }
}
