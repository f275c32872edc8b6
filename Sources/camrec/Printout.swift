import Glibc
import Terminal

/// A text on standard output.
enum Printout {
    /// Writes text, which is nil where none could be made.
    static func write(_ text: String?) throws(ExitStatus) {
        signal(SIGPIPE, SIG_IGN)
        guard let code = text.map({ DescriptorWriter.write($0, to: STDOUT_FILENO) }) ?? EINVAL else { return }
        // Whoever looks at the first lines only, as head does, has not failed.
        if code == EPIPE { return }
        Console(isQuiet: false, isVerbose: false).fail(
            "standard output: writing failed: \(String(cString: strerror(code))); check its destination")
        throw .inputOutput
    }

    /// Writes lines. Names are a driver's; lines are ours.
    static func write(lines text: String) throws(ExitStatus) {
        try write(
            text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
                .joined(separator: "\n") + "\n")
    }
}
