import ArgumentParser
import CamCommandLine
import CamControlProtocol
import CamPlatform
import CamRecorder
import CamStorage
import Containers
import Glibc

/// `camrec keep PATH`
struct KeepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep",
        abstract: "Keeps recordings that --keep and --min-free would remove, releases them, or lists them.",
        usage: """
            camrec keep [--release] [--to <PATH>] <PATH>...
            camrec keep --list [--json] <FOLDER>...
            """,
        discussion: """
            Recordings that are kept count towards --keep and --min-free as before, and no limit removes them. The mark \
            is in the journal next to the recordings. While a recorder uses that journal, ask the recorder: \
            camrec ctl SOCKET keep PATH.

            Exit codes: 0 done; 65 not a journal, or not the file that was recorded; 66 no such recording in a journal; \
            74 read or write failed; 75 a recorder is running there; 77 no permission.
            """)

    @Flag(help: "Release recordings, so that limits remove them again.")
    var release = false

    @Option(
        help: ArgumentHelp(
            "Also every recording after the named one, up to this one.", valueName: "PATH"),
        completion: .readable, transform: PlainValue.text("expected a file's name"))
    var to: String?

    @Flag(help: "List the recordings that are kept, also while a recorder runs.")
    var list = false

    @Flag(help: "With --list: print JSON, for programs.")
    var json = false

    @Argument(
        help: ArgumentHelp(
            "Recordings; with --list, folders with journals: the part of an output's name before the first %.",
            valueName: "PATH"), completion: .file(),
        transform: PlainValue.text("expected a file's name"))
    var paths: [String]

    func validate() throws {
        if list, release || to != nil {
            throw ValidationError("--list only lists; leave \(release ? "--release" : "--to") out")
        }
        if json, !list { throw ValidationError("--json is for --list; add it, or leave --json out") }
        if to != nil, paths.count > 1 {
            throw ValidationError("--to ends a range that begins with one recording; name only that one")
        }
    }

    func run() throws {
        let console = Console(isQuiet: false, isVerbose: false)
        var (failure, listed) = (ExitStatus?.none, KeptSegments())
        for path in paths {
            do throws(ExitStatus) {
                if list { listed.add(try kept(in: path, console)) } else { try mark(path, console) }
            } catch { failure = failure ?? error }
        }
        if list, failure == nil || listed.count > 0 { try show(listed) }
        if let failure { throw failure }
    }

    private func mark(_ path: String, _ console: Console) throws(ExitStatus) {
        let marked: KeptSegments
        do throws(KeepingRefusal) {
            marked = try SegmentKeeping.mark(SegmentRange(first: path, last: to), isKept: !release)
        } catch { throw fail(error, path, on: console) }
        let range = to.map { "\(path) to \($0)" } ?? path
        let count = to == nil ? "" : "; recordings: \(marked.count)"
        try Printout.write(lines: "\(range): \(release ? "released" : "kept")\(count)")
    }

    private func kept(in folder: String, _ console: Console) throws(ExitStatus) -> KeptSegments {
        // An output's name with a date leads to the folder before it.
        let folder = FileNamePattern(folder + "/", expandsTime: true).folder
        do throws(KeepingRefusal) {
            if let kept = try SegmentKeeping.list(in: folder) { return kept }
        } catch { throw fail(error, folder, on: console) }
        console.fail(
            "\(folder): no journal of recordings here; name the folder that --keep or --min-free is used in")
        throw .noInput
    }

    private func show(_ kept: KeptSegments) throws(ExitStatus) {
        if json { return try Printout.write(JSONText.of(KeptReport(kept))) }
        let lines = kept.segments.map { segment in
            "\(segment.path): \(segment.bytes.map { "\($0) bytes" } ?? "being written")"
        }
        try Printout.write(
            lines: (lines + ["recordings kept: \(kept.count), \(kept.bytes) bytes"]).joined(separator: "\n"))
    }

    private func fail(_ refusal: KeepingRefusal, _ path: String, on console: Console) -> ExitStatus {
        switch refusal {
        case .unknown(let path):
            console.fail(
                "\(path): not in a journal of recordings, so that no limit removes it; name a file that --keep counts"
            )
            return .noInput
        case .replaced(let path):
            console.fail(
                "\(path): a copy, or not the file that was recorded, so that no limit removes it; 'camrec adopt FOLDER' "
                    + "takes copies over")
            return .badInput
        case .noLimits, .busy, .silent:
            console.fail("\(path): no recorder keeps it; try again")
            return .inputOutput
        case .failed(let error):
            let word = release ? "release" : "keep"
            return error.journalStatus(
                on: console,
                inUse: "\(path): a recorder is running there; ask it: camrec ctl SOCKET \(word) \(path)")
        }
    }
}
