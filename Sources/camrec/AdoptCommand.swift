import ArgumentParser
import Output
import Terminal

/// `camrec adopt FOLDER`
struct AdoptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract:
            "Takes over recordings that were copied to another disk, so that --keep and --min-free count them.",
        usage: "camrec adopt <FOLDER>...",
        discussion: """
            --keep and --min-free remove what camrec wrote itself, and never a copy. After recordings were copied \
            with their journals (cp -a, rsync -a), this makes the copies camrec's own. No recorder may be at work there.

            Exit codes: 0 done; 66 no journal of recordings there; 74 reading or writing failed; 75 a recorder is at \
            work there.
            """)

    @Argument(
        help: ArgumentHelp(
            "Folders with journals (.NAME.camrec): what stands ahead of the first % in an output's name.",
            valueName: "FOLDER"))
    var folders: [String]

    func run() throws {
        let console = Console(isQuiet: false, isVerbose: false)
        for folder in folders {
            let result: SegmentAdoption.Result
            do throws(OutputError) {
                result = try SegmentAdoption.adopt(in: folder)
            } catch { throw fail(error, folder, on: console) }
            guard result.journals > 0 else {
                console.fail(
                    "\(folder): no journal of recordings in it; name the folder that --keep or --min-free was used in"
                )
                throw ExitStatus.noDevice
            }
            try Printout.write(lines: text(folder, result))
        }
    }

    private func text(_ folder: String, _ result: SegmentAdoption.Result) -> String {
        "\(folder): recordings taken over: \(result.adopted)"
            + (result.left == 0 ? "" : "; left alone, because their sizes are others: \(result.left)")
    }

    private func fail(_ error: OutputError, _ folder: String, on console: Console) -> ExitStatus {
        guard case .journalInUse = error.kind else {
            console.fail(error.description)
            return .inputOutput
        }
        console.fail("\(folder): a recorder is at work there; stop it first")
        return .busy
    }
}
