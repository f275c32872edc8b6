import ArgumentParser
import Terminal

/// `camrec check FILE`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Says what is wrong with files of settings.",
        usage: "camrec check <FILE>...",
        discussion: """
            A settings file has one long option a line, without its dashes, as 'key = value': flags are yes or no, \
            'output' is OUTPUT, '#' begins a comment. 'camrec --settings FILE' reads it.

            Exit codes: 0 all is well; 1 one line on standard error for each error, with its place.
            """)

    @Argument(
        help: ArgumentHelp("Files of settings, such as /etc/camrec/NAME.conf.", valueName: "FILE"),
        transform: PlainValue.text("it is a file's name"))
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
                status = .offence
            }
        }
        if status != .done { throw status }
    }
}
