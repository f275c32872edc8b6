import Glibc
import CamCommandLine
import CamWeb

/// Asks for a new password: twice on a terminal, without showing it; otherwise it is a line of standard input.
struct PasswordPrompt {
    let user: String

    private static let endOfText = "\u{3}"

    /// Reads a password that can be used.
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
        // Ctrl-C, which is a character like any other meanwhile.
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
