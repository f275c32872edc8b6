import ArgumentParser
import CamCommandLine

/// `camrec check FILE`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks settings files and reports what is wrong in them.",
        usage: "camrec check <FILE>...",
        discussion: """
            A settings file has one long option per line, without its dashes, as 'key = value': flags are yes or no, \
            'output' is OUTPUT, '#' starts a comment. 'camrec --settings FILE' reads it.

            Exit codes: 0 no errors; 1 errors, each on a line of standard error with its place.
            """)

    @Argument(
        help: ArgumentHelp("Settings files, such as /etc/camrec/NAME.conf.", valueName: "FILE"),
        completion: .file(), transform: PlainValue.text("expected a file's name"))
    var files: [String]

    func run() throws {
        let console = Console(isQuiet: false, isVerbose: false)
        var status = ExitStatus.done
        for path in files {
            do throws(SettingsProblems) {
                let arguments = try RecordCommand.arguments(ofSettings: path)
                for warning in RecordCommand.warnings(on: arguments) { console.warn("\(path): \(warning)") }
                console.inform("\(path): all is well")
                if !RecordCommand.namesOutput(arguments) {
                    console.inform(
                        "\(path): neither 'output' nor 'listen': name an OUTPUT on the command line")
                }
            } catch {
                for problem in error.problems { console.fail(problem.description) }
                status = .violation
            }
        }
        if status != .done { throw status }
    }
}
