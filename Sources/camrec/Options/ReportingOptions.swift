import ArgumentParser
import Output
import Terminal

/// What is said, and where.
struct ReportingOptions: ParsableArguments {
    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Option(
        help: ArgumentHelp(
            "Write a JSON report at the end. %Y, %m, ... in its name are the date when recording begins.",
            valueName: "FILE|-"),
        transform: PlainValue.text("it is a file's name, or -"))
    var report: String?

    @Option(
        help: ArgumentHelp(
            "Write the time of each frame of the first output, for mkvmerge or 'camrec remux'.",
            valueName: "FILE|-"),
        transform: PlainValue.text("it is a file's name, or -"))
    var timestamps: String?

    @Flag(help: "Say nothing but warnings and errors, even on a terminal.")
    var quiet = false

    @Flag(help: "Say everything, even in a script.")
    var verbose = false
}
