import ArgumentParser
import Terminal

/// Options from a file.
struct SettingsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read options from a file, one 'key = value' a line; those given here win. See 'camrec check --help'.",
            valueName: "FILE"), transform: PlainValue.text("it is a file's name"))
    var settings: String?
}
