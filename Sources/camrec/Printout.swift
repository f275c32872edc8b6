import Glibc
import CamCommandLine

/// Writes text to standard output.
enum Printout {
    /// Writes text; nil means it could not be made.
    static func write(_ text: String?) throws(ExitStatus) {
        signal(SIGPIPE, SIG_IGN)
        guard let code = text.map({ DescriptorWriter.write($0, to: STDOUT_FILENO) }) ?? EINVAL else { return }
        // A reader that needs only the first lines, such as head, is not a failure.
        if code == EPIPE { return }
        Console(isQuiet: false, isVerbose: false).fail(
            "standard output: writing failed: \(String(cString: strerror(code))); check its destination")
        throw .inputOutput
    }

    /// Writes lines: line breaks are ours, but names come from a driver.
    static func write(lines text: String) throws(ExitStatus) {
        try write(
            text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
                .joined(separator: "\n") + "\n")
    }
}
