import ArgumentParser
import CamCommandLine

/// Options from a file.
struct SettingsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read options from a file of 'key = value' lines; the command line takes precedence. See 'camrec check --help'.",
            valueName: "FILE"), completion: .file(), transform: PlainValue.text("expected a file's name"))
    var settings: String?
}
