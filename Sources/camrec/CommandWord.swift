import CamRecorder
import CamCommandLine
import CamPlatform

/// Detects a mistyped or misplaced command on the command line, which would otherwise become the name of a recorded
/// file.
enum CommandWord {
    /// Other programs' names for camrec's commands.
    private static let synonyms = [
        "capture": "camrec record", "rec": "camrec record", "start": "camrec record",
        "list": "camrec devices",
        "ls": "camrec devices", "cameras": "camrec devices", "info": "camrec inspect",
        "probe": "camrec inspect", "show": "camrec inspect", "analyse": "camrec inspect",
        "analyze": "camrec inspect", "convert": "camrec remux", "mux": "camrec remux",
        "diagnose": "camrec doctor", "validate": "camrec check", "verify": "camrec check",
        "status": "camrec ctl SOCKET stats", "kill": "camrec ctl SOCKET stop", "play": "camplay",
        "photo": "camrec snapshot", "still": "camrec snapshot", "grab": "camrec snapshot", "view": "camplay",
        "watch": "camplay", "version": "camrec --version",
    ]

    /// Returns the reason a word is refused, or nil if every word is a command in its place or may be an output.
    /// - Parameters:
    ///   - given: the command line as typed.
    ///   - arguments: the command line with the settings file's arguments.
    static func mistake(in given: CommandLineWords, with arguments: [String]) -> String? {
        let first = given.isNamed ? nil : given.words.first
        func reason(against word: String) -> String? {
            OutputName(word).isBareWord ? Self.reason(against: word, isFirst: word == first) : nil
        }
        // To list the options takes milliseconds and memory; most command lines have no such word.
        guard given.isRecording, given.words.contains(where: { reason(against: $0) != nil }),
            !arguments.contains(where: { $0 == "--codec" || $0.hasPrefix("--codec=") })
        else { return nil }
        return given.operands(of: CommandOptions(of: RecordCommand.self)).lazy
            .compactMap(reason(against:)).first
    }

    /// A later word is an output without a codec in its name, unless it resembles a command.
    private static func reason(against word: String, isFirst: Bool) -> String? {
        if commands(andHidden: true).contains(word) || word == "help" {
            return "'\(word)' is a command and must come first: camrec \(word)"
        }
        guard let suggestion = suggestion(for: word, listsAll: isFirst) else { return nil }
        return "'\(word)' is not a command; \(suggestion); "
            + "to record into a file of that name, add --codec h264 or --codec hevc"
    }

    private static func commands(andHidden: Bool) -> [String] {
        Camrec.configuration.subcommands.filter { $0.configuration.shouldDisplay || andHidden }
            .compactMap { $0.configuration.commandName }
    }

    private static func suggestion(for word: String, listsAll: Bool) -> String? {
        let (commands, orders) = (commands(andHidden: false), ControlCommand.names)
        let names = synonyms.merging(commands.map { ($0, "camrec \($0)") }) { $1 }
            .merging(orders.map { ($0, "camrec ctl SOCKET \($0)") }) { command, _ in command }
        guard let name = names.keys.sorted().nearest(to: word), let command = names[name] else {
            return listsAll ? "the commands are \(commands.joined(separator: ", "))" : nil
        }
        return "the nearest is '\(command)'"
    }
}
