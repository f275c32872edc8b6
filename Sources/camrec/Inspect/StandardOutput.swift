import Glibc
import Output
import CamCommandLine

/// Buffered standard output, flushed by its user.
struct StandardOutput {
    private var text = ""

    /// Adds a line.
    mutating func add(_ line: String) { text += line + "\n" }

    /// Adds text without a newline.
    mutating func addPart(_ part: String) { text += part }

    /// Writes the buffered text.
    mutating func flush() throws(InspectSession.Failure) {
        guard !text.isEmpty else { return }
        defer { text.removeAll(keepingCapacity: true) }
        guard let code = DescriptorWriter.write(text, to: STDOUT_FILENO) else { return }
        // A reader that needs only the first lines, such as head, is not a failure.
        if code == EPIPE { throw .unread }
        throw .output(OutputError(writeFailed: code, output: "standard output"))
    }
}
