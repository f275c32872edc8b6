import ArgumentParser
import Glibc
import Output
import CamRecorder
import CamCommandLine
import CamPlatform

extension CtlCommand {
    /// The file of `snapshot FILE`; nil for other commands.
    var snapshotFile: String? { words.first == "snapshot" && words.count == 2 ? words[1] : nil }

    /// The command's line on the socket, where a picture has a format and no file.
    func line() throws -> String {
        guard words.first == "snapshot" else { return words.joined(separator: " ") }
        guard let file = snapshotFile else {
            throw ValidationError("snapshot needs a file; name one, as in: snapshot a.jpg")
        }
        let format = file == FileSink.standardOutput ? .jpeg : Snapshot.Format(path: file)
        guard let format else {
            throw ValidationError("'\(file)' must be named .jpg, .jpeg or .png; use another name")
        }
        return "snapshot \(format.rawValue)"
    }

    /// Writes the picture, completely or not at all.
    func writeSnapshot(
        _ bytes: [UInt8], to path: String, _ console: Console
    ) throws(ExitStatus) {
        do throws(OutputError) {
            guard let interruption = Interruption() else {
                throw OutputError(.notCreated(errno: EMFILE), output: path)
            }
            try OutputFile.write(bytes, to: path, overwrite: overwrite, interruption: interruption)
        } catch {
            console.fail(error.description)
            throw ExitStatus(error)
        }
    }

    /// Throws what would prevent writing, before a picture is taken.
    func refuseUnusable(_ path: String, _ console: Console) throws(ExitStatus) {
        do throws(OutputError) { try OutputFile.refuseUnusable(path, overwrite: overwrite) } catch {
            console.fail(error.description)
            throw ExitStatus(error)
        }
    }
}
