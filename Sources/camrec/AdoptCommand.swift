import ArgumentParser
import Glibc
import CamCommandLine
import CamStorage
import Containers

/// `camrec adopt FOLDER`
struct AdoptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract:
            "Adopts recordings that were copied to another disk, so that --keep and --min-free count them.",
        usage: "camrec adopt <FOLDER>...",
        discussion: """
            --keep and --min-free remove only files that camrec wrote itself, never copies. After you copy recordings \
            with their journals (cp -a, rsync -a), this command makes the copies camrec's own. Stop any recorder that \
            writes to the folder first.

            Exit codes: 0 done; 65 not a journal, despite its name; 66 no such folder, or no journal in it; 74 read or \
            write failed; 75 a recorder is running there; 77 no permission.
            """)

    @Argument(
        help: ArgumentHelp(
            "Folders with journals (.NAME.camrec): the part of an output's name before the first %.",
            valueName: "FOLDER"), completion: .directory,
        transform: PlainValue.text("expected a folder's name"))
    var folders: [String]

    func run() throws {
        let console = Console(isQuiet: false, isVerbose: false)
        var failure: ExitStatus?
        for folder in folders {
            do throws(ExitStatus) {
                try adopt(folder, console)
            } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    private func adopt(_ folder: String, _ console: Console) throws(ExitStatus) {
        let result: SegmentAdoption.Result
        do throws(OutputError) {
            result = try SegmentAdoption.adopt(in: folder)
        } catch { throw fail(error, folder, on: console) }
        guard result.journals > 0 else {
            console.fail(
                "\(folder): no journal of recordings here; name the folder that --keep or --min-free is used in"
            )
            throw .noInput
        }
        try Printout.write(lines: text(folder, result))
    }

    private func text(_ folder: String, _ result: SegmentAdoption.Result) -> String {
        "\(folder): recordings adopted: \(result.adopted)"
            + (result.left == 0
                ? "" : "; left alone because their sizes differ or are unknown: \(result.left)")
            + (result.missing == 0
                ? ""
                : "; missing: \(result.missing) (removed since, or not copied yet: then run this again)")
    }

    private func fail(_ error: OutputError, _ folder: String, on console: Console) -> ExitStatus {
        error.journalStatus(on: console, inUse: "\(folder): a recorder is running there; stop it first")
    }
}

extension OutputError {
    /// Reports why a journal cannot be used.
    /// - Parameter inUse: the message if a recorder uses it.
    func journalStatus(on console: Console, inUse: String) -> ExitStatus {
        switch kind {
        case .journalInUse:
            console.fail(inUse)
            return .busy
        case .notRead(let code), .notCreated(let code):
            console.fail("\(OutputError(.notRead(errno: code), output: output))")
            return [EACCES, EPERM].contains(code)
                ? .noPermission : [ENOENT, ENOTDIR].contains(code) ? .noInput : .inputOutput
        case .noJournal, .untrustedJournal:
            console.fail("\(self)")
            return .badInput
        default:
            console.fail("\(self)")
            return .inputOutput
        }
    }
}
