import ArgumentParser
import CamCommandLine
import CamWeb
import Glibc

/// `camweb password [--role viewer|admin] FILE [USER]`
struct PasswordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Sets a password for camweb.",
        usage: "camweb password [--role <ROLE>] <FILE> [<USER>]",
        discussion: """
            Asks twice on a terminal, without showing what is typed; otherwise reads a line from standard input. The file \
            has a line for each user, with a hash of the password (yescrypt) and perhaps a role, and mode 600. camweb \
            follows the file within a second: sessions of users who are gone or have another password end.

            Examples:
              camweb password ~/.config/camweb.password
              sudo camweb password /etc/camrec/camweb.password maria
              camweb password --role viewer ~/.config/camweb.password guest

            Exit codes: 0 written; 64 usage, or a password or file that cannot be used; 73 the file cannot be written.
            """)

    @Argument(
        help: ArgumentHelp("The password file; made if there is none.", valueName: "FILE"),
        completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("User who logs in with this password. Default: camweb.", valueName: "USER"))
    var user = "camweb"

    @Option(
        help: ArgumentHelp(
            "What the user may do: viewer watches and downloads, admin also changes recordings and sees details. "
                + "Default: the user's role so far; without one, as admin.",
            valueName: "ROLE"),
        completion: .list(Role.allCases.map(\.rawValue)), transform: RoleName.read)
    var role: RoleName?

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
            passwords.set(hash, for: user, role: role?.role)
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

/// `viewer`
struct RoleName: ExplainedArgument {
    static let requirement = "expected viewer or admin"

    let role: Role

    init?(argument: String) {
        guard let role = Role(rawValue: argument) else { return nil }
        self.role = role
    }
}

/// Why no password was set: a line, and the exit code.
struct Mistake: Error {
    let line: String
    let status: ExitStatus

    init(_ line: String, _ status: ExitStatus) { (self.line, self.status) = (line, status) }
}

// MARK: Prompt

/// Asks for a new password: twice on a terminal, without showing it; otherwise it is a line of standard input.
struct PasswordPrompt {
    let user: String

    private static let endOfText = "\u{3}"

    /// Reads an acceptable password.
    func read() throws(Mistake) -> String {
        let password = try isatty(STDIN_FILENO) == 1 ? readTwice() : line()
        if let complaint = PasswordHash.complaint(about: password) { throw Mistake(complaint, .usage) }
        return password
    }

    private func readTwice() throws(Mistake) -> String {
        let password = try ask("New password for \(user): ")
        guard try ask("The same again: ") == password else {
            throw Mistake("the two passwords differ; nothing was changed; try again", .usage)
        }
        return password
    }

    private func ask(_ question: String) throws(Mistake) -> String {
        guard let terminal = SilentTerminal(STDIN_FILENO) else {
            throw Mistake(
                "the terminal shows what is typed; give the password on standard input", .inputOutput)
        }
        defer { terminal.say("\n") }
        terminal.say(question)
        let answer = try line()
        // Ctrl-C arrives as a character, because the terminal sends no signals.
        guard !answer.contains(Self.endOfText) else { throw Mistake("stopped; nothing was changed", .usage) }
        return answer
    }

    private func line() throws(Mistake) -> String {
        guard let line = readLine(strippingNewline: true) else {
            throw Mistake("no password; type one, or give a line on standard input", .usage)
        }
        return line
    }
}

/// A terminal without echo, restored on release.
struct SilentTerminal: ~Copyable {
    private let descriptor: Int32
    private let before: termios

    /// Nil if the descriptor is no terminal.
    init?(_ descriptor: Int32) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return nil }
        (self.descriptor, before) = (descriptor, settings)
        // A signal would end the program before the terminal is restored.
        settings.c_lflag &= ~tcflag_t(ECHO | ISIG)
        settings.c_lflag |= tcflag_t(ICANON)
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }

    /// Writes to the terminal.
    func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    deinit {
        var settings = before
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }
}
