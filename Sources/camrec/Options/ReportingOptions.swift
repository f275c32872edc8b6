import ArgumentParser
import Output
import CamCommandLine

/// Options for messages and the report.
struct ReportingOptions: ParsableArguments {
    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Option(
        help: ArgumentHelp(
            "Write a JSON report at the end. Its name may contain strftime's %Y, %m, ... (start of the recording).",
            valueName: "FILE|-"),
        completion: .file(), transform: PlainValue.text("expected a file's name, or -"))
    var report: String?

    @Option(
        help: ArgumentHelp(
            "Write the time of each frame of the first output, for mkvmerge or 'camrec remux'.",
            valueName: "FILE|-"),
        completion: .file(), transform: PlainValue.text("expected a file's name, or -"))
    var timestamps: String?

    @Flag(help: "Print only warnings and errors, even on a terminal.")
    var quiet = false

    @Flag(help: "Print everything, even in a script.")
    var verbose = false
}
