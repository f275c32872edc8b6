import ArgumentParser
import Output

/// What is said, and where.
struct ReportingOptions: ParsableArguments {
    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Option(help: ArgumentHelp("Write a JSON report at the end.", valueName: "FILE|-"))
    var report: String?

    @Option(
        help: ArgumentHelp(
            "Write the time of each frame of the first output, for mkvmerge or 'camrec remux'.",
            valueName: "FILE|-"))
    var timestamps: String?

    @Flag(help: "Say nothing but warnings and errors, even on a terminal.")
    var quiet = false

    @Flag(help: "Say everything, even in a script.")
    var verbose = false

    func validate() throws {
        if timestamps == "" || report == "" { throw ValidationError("a file's name is empty") }
        if timestamps == FileSink.standardOutput, report == FileSink.standardOutput {
            throw ValidationError("'--report -' and '--timestamps -' both want standard output")
        }
        if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other") }
    }
}
