import ArgumentParser
import Glibc
import CamCommandLine
import CamWeb

/// `camweb password FILE [USER]`
struct PasswordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Sets a password for camweb.",
        usage: "camweb password <FILE> [<USER>]",
        discussion: """
            Asks twice on a terminal, without showing what is typed; otherwise reads a line from standard input. The file \
            has a line for each user, with a hash of the password (yescrypt), and mode 600. Restart camweb afterwards, \
            which also ends all sessions.

            Examples:
              camweb password ~/.config/camweb.password
              sudo camweb password /etc/camrec/camweb.password maria

            Exit codes: 0 written; 64 usage, or a password or file that cannot be used; 73 the file cannot be written.
            """)

    @Argument(
        help: ArgumentHelp("The password file; made if there is none.", valueName: "FILE"),
        completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("Who logs in with it. Default: camweb.", valueName: "USER"))
    var user = "camweb"

    func validate() throws {
        guard PasswordFile.isUser(user) else {
            throw ValidationError(
                "a user's name is of 1 to 64 letters, digits and signs, without ':' and spaces")
        }
    }

    func run() throws {
        let console = Console(program: "camweb", isQuiet: false, isVerbose: false)
        defer { console.finish() }
        do throws(Mistake) {
            var passwords = try existing()
            let password = try PasswordPrompt(user: user).read()
            guard let hash = PasswordHash(of: password) else {
                throw Mistake("no memory for the password's hash; free 64 MB", .inputOutput)
            }
            passwords.set(hash, for: user)
            do throws(PasswordFile.Failure) { try passwords.write(to: file) } catch {
                throw Mistake(error.description, .cannotCreate)
            }
        } catch {
            console.fail(error.line)
            throw error.status
        }
    }

    /// The file's other users.
    private func existing() throws(Mistake) -> PasswordFile {
        do throws(PasswordFile.Failure) { return try PasswordFile(path: file) } catch {
            switch error {
            case .unreadable(_, ENOENT), .empty: return PasswordFile()
            default: throw Mistake(error.description, .usage)
            }
        }
    }
}

/// Why no password was set: a line, and the exit code.
struct Mistake: Error {
    let line: String
    let status: ExitStatus

    init(_ line: String, _ status: ExitStatus) { (self.line, self.status) = (line, status) }
}
