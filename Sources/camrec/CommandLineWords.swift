import ArgumentParser
import CamCommandLine
import CamPlatform
import CamRecorder

/// The words of a command line, before parsing.
struct CommandLineWords {
    /// The words without the program's name; negative numbers are joined to their option.
    let words: [String]
    /// The command: recording, unless the first word names another.
    let command: any ParsableCommand.Type
    /// Whether the first word names the command.
    let isNamed: Bool

    /// - Parameter given: the command line without the program's name.
    init(_ given: [String]) {
        let named = Camrec.configuration.subcommands.first {
            $0.configuration.commandName == given.first
        }
        let command = named ?? RecordCommand.self
        self.command = command
        isNamed = named != nil
        let joined =
            given.contains(where: ArgumentText.isNegative)
            ? ArgumentText.joiningNegativeNumbers(given, flags: CommandOptions(of: command).flags) : given
        words =
            command == RecordCommand.self ? Self.namingStandardOutput(Self.completingListen(joined)) : joined
    }

    /// Names standard output by its path where it has properties: `-,size=320x240` would be taken for options.
    private static func namingStandardOutput(_ words: [String]) -> [String] {
        words.map { $0.hasPrefix("-,") ? "/dev/stdout\($0.dropFirst())" : $0 }
    }

    /// Gives `--listen` its usual value where it stands last or before another option.
    private static func completingListen(_ words: [String]) -> [String] {
        let end = words.firstIndex(of: "--") ?? words.endIndex
        return words.enumerated().map { index, word in
            guard index < end, word == "--listen" else { return word }
            let next = index + 1 < words.count ? words[index + 1] : nil
            return next == nil || next?.hasPrefix("-") == true ? "--listen=\(ListeningPlace.usual)" : word
        }
    }

    /// Whether the command records.
    var isRecording: Bool { command == RecordCommand.self && words.first != "help" }

    /// The command line that shows the command's options.
    var help: String {
        let name = isNamed && !isRecording ? words.first.map { "\($0) " } : nil
        return "camrec \(name ?? "")--help"
    }

    /// Detects options that the command does not have.
    var unknownOption: UnknownOption {
        let (table, isAboutCommand) =
            switch command {
            case is RemuxCommand.Type: (ForeignOption.remuxing, true)
            case is InspectCommand.Type: (ForeignOption.inspecting, true)
            default: (ForeignOption.recording, isRecording)
            }
        return UnknownOption(of: command, foreign: table, translatesAll: isAboutCommand, help: help)
    }

    /// The given options in order, without dashes and values; an inverted flag appears under the flag's name.
    var optionNames: [String] {
        words.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map { word in
            let name = word.dropFirst(2).prefix { $0 != "=" }
            return String(name.hasPrefix("no-") ? name.dropFirst(3) : name)
        }
    }

    /// Returns the words that are neither the command, nor options, nor their values.
    func operands(of options: CommandOptions) -> [String] {
        let valued = Set(options.names).subtracting(options.flags)
        var operands: [String] = []
        var isValue = false
        for (index, word) in words.dropFirst(isNamed ? 1 : 0).enumerated() {
            if word == "--" { return operands + words.dropFirst(index + (isNamed ? 2 : 1)) }
            if word.hasPrefix("-"), word != "-" {
                isValue = word.hasPrefix("--") && valued.contains(String(word.dropFirst(2)))
            } else {
                if !isValue { operands.append(word) }
                isValue = false
            }
        }
        return operands
    }
}

// MARK: Mistakes

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
        // Listing the options takes milliseconds and memory; most command lines have no such word.
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

/// Detects a repeated option if both values may be intended: places and sources. For other options the last
/// value counts, so that a script's defaults can be overridden.
enum RepeatedOption {
    private static let single = ["device", "report", "timestamps", "control-socket", "settings"]

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
